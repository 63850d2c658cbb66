// Many items of a service in one request: results, heartbeats, releases, parts. Each item goes through its single operation, with
// the same rights and checks, and has an answer of its own, in the order in which it was sent.
//   - A bad item is refused alone. The whole exchange is refused only when the database answers none of its items.
//   - The items of one call are carried out one after the other: parts, heartbeat, result, release. Calls do not wait for
//     each other.
//   - A result has its own `traceparent` field. The header `traceparent` belongs to the client's trace and is ignored.

import {
  exceedsBytes,
  HEADERS,
  isFilled,
  isRecord,
  parseWith,
  refuseUnstorable,
  ToolplaneError,
  understandError,
} from "@toolplane/protocol";
import { UnreadableJson } from "@toolplane/protocol/agents";
import { z } from "zod";
import { type BodyOf, errorOfItem, text } from "../http/answers.ts";
import type { BodyParts } from "../http/body-parts.ts";
import { heartbeat, heartbeatBody, release, releasedBody } from "./lease-operations.ts";
import { acceptedBody, parts, settle, settledShape } from "./result-operations.ts";
import { plainText, type ServiceOperation, type ServiceRequest } from "./service-request.ts";

/** In one list; a service with more items sends another request. */
const MAX_ITEMS = 256;

const named = { tool_call_id: plainText };

/** In the order in which the items of one call are dealt with. */
const KINDS = {
  parts: { operation: parts, item: parts.body.extend(named) },
  heartbeats: { operation: heartbeat, item: heartbeat.body.extend(named) },
  results: { operation: settle, item: settle.body.extend({ ...named, traceparent: z.string().max(256).optional() }) },
  releases: { operation: release, item: release.body.extend(named) },
} as const;

export type ItemKind = keyof typeof KINDS;
export const ITEM_KINDS = Object.keys(KINDS) as readonly ItemKind[];

const items = z.array(z.unknown()).max(MAX_ITEMS).default([]);

/** The lists of an exchange: their items are judged one by one. */
export const itemLists = { results: items, heartbeats: items, releases: items, parts: items };

export const itemParts: BodyParts = { are: "items", lists: ITEM_KINDS, results: "results" };

const refused = z.strictObject({ tool_call_id: text.nullable(), error: errorOfItem });
const answered = <Shape extends z.ZodRawShape>(body: z.ZodObject<Shape>) =>
  z.array(z.union([z.strictObject({ tool_call_id: text, ...body.shape }), refused]));

/** The answers, in the order of the items. */
export const itemAnswers = {
  results: answered(settledShape),
  heartbeats: answered(heartbeatBody),
  releases: answered(releasedBody),
  parts: answered(acceptedBody),
};

export type ItemLists = Readonly<Record<ItemKind, readonly unknown[]>>;
type ItemAnswer = Readonly<Record<string, unknown>>;

interface Item {
  readonly kind: ItemKind;
  readonly index: number;
  readonly given: unknown;
  readonly toolCallId: string | undefined;
}

export interface ExchangedItems {
  readonly answers: { readonly [Kind in ItemKind]: BodyOf<(typeof itemAnswers)[Kind]> };
  readonly refused: readonly ToolplaneError[];
}

const tooLarge = (maxBytes: number): ToolplaneError =>
  new ToolplaneError("payload_too_large", `the item is larger than ${maxBytes} bytes`, {
    detail: { max_bytes: maxBytes },
  });

type Envelope = Omit<ServiceRequest<unknown>, "toolCallId" | "body" | "leaseId">;

/** The item as a single request; throws the error with which that request would have been refused. */
const questionOf = ({ kind, given }: Item, envelope: Envelope): ServiceRequest<never> => {
  if (given instanceof UnreadableJson) throw given.error;
  const { operation, item } = KINDS[kind];
  if (operation.maxBytes < settle.maxBytes && exceedsBytes(JSON.stringify(given) ?? "", operation.maxBytes))
    throw tooLarge(operation.maxBytes);
  if (operation !== settle) refuseUnstorable(given as never, "the item");
  const { tool_call_id: toolCallId, ...rest } = parseWith(item as z.ZodObject, given, "the item");
  const { traceparent, ...body } = rest;
  const headers = { ...envelope.headers };
  delete headers[HEADERS.traceparent];
  if (isFilled(traceparent)) headers[HEADERS.traceparent] = traceparent;
  return { ...envelope, headers, toolCallId: toolCallId as string, body: body as never };
};

/** An answer repeats only what can be an id: a text of megabytes would come back as often as its service asks. */
const idOf = (given: unknown): string | undefined =>
  isRecord(given) ? plainText.safeParse(given.tool_call_id).data : undefined;

const itemsOf = (lists: ItemLists): readonly Item[] =>
  ITEM_KINDS.flatMap((kind) => lists[kind].map((given, index) => ({ kind, index, given, toolCallId: idOf(given) })));

/** Items of one call stand together; an item that names no call stands alone. */
const byCall = (all: readonly Item[]): readonly (readonly Item[])[] => {
  const groups = new Map<unknown, Item[]>();
  for (const item of all) {
    const key = item.toolCallId ?? item;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
};

/** The database failed for every item: the same error as at every other route. */
const checkStore = (count: number, refused: readonly ToolplaneError[]): void => {
  const [first] = refused;
  if (first !== undefined && refused.length === count && refused.every(({ code }) => code === "storage_error"))
    throw first;
};

export const exchangeItems = async (lists: ItemLists, envelope: Envelope): Promise<ExchangedItems> => {
  const all = itemsOf(lists);
  const answers: Record<ItemKind, ItemAnswer[]> = { parts: [], heartbeats: [], results: [], releases: [] };
  const refused: ToolplaneError[] = [];

  const carryOut = async (item: Item): Promise<void> => {
    const { kind, index, toolCallId = null } = item;
    try {
      const operation: ServiceOperation = KINDS[kind].operation;
      const { body } = await operation.run(questionOf(item, envelope));
      answers[kind][index] = { tool_call_id: toolCallId, ...(body as ItemAnswer) };
    } catch (thrown) {
      const error = understandError(thrown);
      refused.push(error);
      answers[kind][index] = { tool_call_id: toolCallId, error: error.toWire() };
    }
  };

  const carryOutInOrder = async (group: readonly Item[]): Promise<void> => {
    for (const item of group) await carryOut(item);
  };

  await Promise.all(byCall(all).map(carryOutInOrder));
  checkStore(all.length, refused);
  return { answers: answers as unknown as ExchangedItems["answers"], refused };
};
