// What a route answers, as data: one schema for each status. Handlers are typed by it, the OpenAPI document is made of it, and the
// tests hold every answer against it. Nothing of it runs when a request is answered.

import { z } from "zod";

/** JSON, or one schema for each media type. No media type: an answer without a body. */
export type Answer = z.ZodType | Readonly<Record<string, z.ZodType>>;

/** By status. Refusals are the same for every route (`problemBody`) and are not listed. */
export type Answers = { readonly [Status in 200 | 201 | 202 | 204 | 503]?: Answer };

type Reading<T> = T extends readonly (infer Item)[]
  ? readonly Reading<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Reading<T[Key]> }
    : T;

/** A body as handlers make it: what the schema says, read only. */
export type BodyOf<Schema> = Schema extends z.ZodType
  ? Reading<z.input<Schema>>
  : Schema extends { readonly "application/json": infer Json extends z.ZodType }
    ? Reading<z.input<Json>>
    : never;

export const JSON_TYPE = "application/json";

const isSchema = (answer: Answer): answer is z.ZodType => answer instanceof z.ZodType;

/** The media types of an answer and their schemas. */
export const mediaOf = (answer: Answer): Readonly<Record<string, z.ZodType>> =>
  isSchema(answer) ? { [JSON_TYPE]: answer } : answer;

/** 204. */
export const NOTHING = {} as const;

export const time = z.iso.datetime({ offset: true });
export const timeOrNull = time.nullable();
export const text = z.string();
export const textOrNull = z.string().nullable();
export const anyObject = z.record(z.string(), z.unknown());

/** A page of a list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    items: z.array(item),
    next_cursor: textOrNull.meta({ description: "Send it as `cursor` for the next page; null on the last page." }),
  });

const wireError = z
  .strictObject({
    code: text,
    message: text,
    retryable: z.boolean().meta({ description: "The same request may work later, without a change." }),
    detail: anyObject.optional(),
  })
  .meta({ id: "Error" });

/** Every refusal, with the status of its code. */
export const problemBody = z.strictObject({ error: wireError }).meta({ id: "Problem" });

/** An item of a list that was refused alone. */
export const errorOfItem = wireError;
