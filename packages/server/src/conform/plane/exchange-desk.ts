// An exchange, taken apart: every item is answered and recorded as if it had come alone.

import { HEADERS, isRecord, ToolplaneError, tryParseJsonStrict } from "@toolplane/protocol";
import { textOrNothing } from "./result-desk.ts";
import type { ScriptedPlane } from "./scripted-plane.ts";

type Body = Readonly<Record<string, unknown>>;

const LISTS = { results: "settle", heartbeats: "heartbeat", releases: "release", parts: "parts" } as const;
type List = keyof typeof LISTS;
const NAMES = Object.keys(LISTS) as readonly List[];

export interface ExchangeItem {
  readonly list: List;
  /** The name of the single operation. */
  readonly operation: (typeof LISTS)[List];
  readonly callId: string | undefined;
  readonly lease: string | undefined;
  readonly traceparent: string | undefined;
  readonly body: Body;
}

const readItem = (list: List, given: unknown): ExchangeItem => {
  const { tool_call_id, traceparent, ...body } = isRecord(given) ? given : {};
  return {
    list,
    operation: LISTS[list],
    callId: textOrNothing(tool_call_id),
    lease: textOrNothing(body.lease),
    traceparent: textOrNothing(traceparent),
    body,
  };
};

export const itemsIn = (body: Body): readonly ExchangeItem[] =>
  NAMES.flatMap((list) => {
    const items = body[list];
    return Array.isArray(items) ? items.map((item: unknown) => readItem(list, item)) : [];
  });

/** A proxy's error page concerns a whole request; for a single item only the server itself can report a failure. */
const failed = new ToolplaneError("internal_error", "the server failed; try again").toWire();

const answerOf = async (callId: string | undefined, response: Response): Promise<Body> => {
  const body = tryParseJsonStrict(await response.text());
  return { tool_call_id: callId ?? null, ...(isRecord(body) ? body : { error: failed }) };
};

export const answerExchange = async (
  plane: ScriptedPlane,
  items: readonly ExchangeItem[],
  headers: Headers,
): Promise<Readonly<Record<List, Body[]>>> => {
  const ask = ({ operation, callId, lease, traceparent, body }: ExchangeItem): Response => {
    const record = plane.find({ call: callId, lease });
    if (operation === "heartbeat") return plane.beat(record);
    if (operation === "release") return plane.release(record);
    if (operation === "parts") return Response.json({ accepted: 1 }, { status: 202 });
    const own = new Headers(headers);
    own.delete(HEADERS.traceparent);
    if (traceparent !== undefined) own.set(HEADERS.traceparent, traceparent);
    return plane.results.takeResult(callId ?? "", body, own);
  };
  const answers: Record<List, Body[]> = { results: [], heartbeats: [], releases: [], parts: [] };
  for (const item of items) answers[item.list].push(await answerOf(item.callId, ask(item)));
  return answers;
};
