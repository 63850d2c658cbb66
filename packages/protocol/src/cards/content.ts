// What a card can hold. Stored content always names its kind in `__type__`; every kind refuses keys it does not know.
// A tool.result must be honest about failure: any status but success carries an error with a code and a message.

import { z } from "zod";
import { jsonObject, jsonObjects, jsonValue } from "../json/json-schemas.ts";
import { isFilled, isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { AFTER_EXECUTIONS } from "../results/value-sets.ts";

const jsonDocument = z.custom<JsonObject | readonly JsonValue[]>(
  (value) => typeof value === "object" && value !== null,
  "expected an object or an array",
);

const textContentSchema = z.strictObject({ __type__: z.literal("TextContent"), text: z.string() }).readonly();

const jsonContentSchema = z.strictObject({ __type__: z.literal("JsonContent"), data: jsonDocument }).readonly();

/** A deliverable with more fields is a table and belongs into a result of its own. */
const MAX_FIELDS = 1000;

const fieldSchema = z
  .strictObject({ name: z.string().trim().min(1), description: z.string().trim().default("") })
  .readonly();

const fieldsSchemaContentSchema = z
  .strictObject({ __type__: z.literal("FieldsSchemaContent"), fields: z.array(fieldSchema).max(MAX_FIELDS).readonly() })
  .readonly();

const toolCallContentSchema = z
  .strictObject({
    __type__: z.literal("ToolCallContent"),
    tool_name: z.string().min(1),
    arguments: jsonObject,
    status: z.string().default("called"),
    target_subject: z.string().nullable().default(null),
  })
  .readonly();

const errorFault = (status: string, error: unknown): string | undefined => {
  if (status === "success") return error === null ? undefined : "a successful result has no error";
  if (!isRecord(error)) return `a result with status ${status} needs an error object`;
  return isFilled(error.code) && isFilled(error.message) ? undefined : "the error needs a code and a message";
};

export const toolResultContentSchema = z
  .strictObject({
    __type__: z.literal("ToolResultContent"),
    // The five words are enforced where results are written; a reader must be able to show other words.
    status: z.string().trim().min(1),
    after_execution: z.enum(AFTER_EXECUTIONS),
    result: jsonValue.default(null),
    error: jsonValue.default(null),
  })
  .superRefine((content, context) => {
    const fault = errorFault(content.status, content.error);
    if (fault !== undefined) context.addIssue({ code: "custom", path: ["error"], message: fault });
  })
  .readonly();

const toolContentSchema = z.strictObject({ __type__: z.literal("ToolContent"), tools: jsonObjects }).readonly();

/** Files are kept in the store beside the protocol; their many optional keys are passed on unchecked. */
const fileContentSchema = z
  .looseObject({
    __type__: z.enum([
      "FileContent",
      "ImageFileContent",
      "PdfFileContent",
      "TextFileContent",
      "VideoFileContent",
      "AudioFileContent",
    ]),
    uri: z.string().min(1),
    checksum: z.string(),
  })
  .readonly();

const multiFileContentSchema = z.looseObject({ __type__: z.literal("MultiFileContent") }).readonly();

export const contentSchema = z.discriminatedUnion("__type__", [
  textContentSchema,
  jsonContentSchema,
  fieldsSchemaContentSchema,
  toolCallContentSchema,
  toolResultContentSchema,
  toolContentSchema,
  fileContentSchema,
  multiFileContentSchema,
]);

export type TextContent = z.infer<typeof textContentSchema>;
export type JsonContent = z.infer<typeof jsonContentSchema>;
export type ToolResultContent = z.infer<typeof toolResultContentSchema>;
export type ToolContent = z.infer<typeof toolContentSchema>;
export type CardContent = z.infer<typeof contentSchema>;
export type ContentType = CardContent["__type__"];

export const textContent = (text: string): TextContent => Object.freeze({ __type__: "TextContent", text });

export const jsonContent = (data: JsonObject | readonly JsonValue[]): JsonContent =>
  Object.freeze({ __type__: "JsonContent", data });
