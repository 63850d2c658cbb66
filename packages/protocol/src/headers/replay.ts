// A stored inbox row, or an agent's head, becomes a context again.
// The row's columns were written in a transaction and win over the headers stored beside them; the headers supply what
// has no column. A row without a trace or a depth is refused: replaying it would start a second lineage at depth 0.

import { buildContext, type CGContext, createContext } from "../context/context.ts";
import { violation } from "../errors/toolplane-error.ts";
import type { TraceIds } from "../trace/traceparent.ts";
import { type Payload, payloadObject, refuseControlFields } from "./control-fields.ts";
import { parseCountOrZero } from "./decimal.ts";
import { type HeaderMap, normalizeHeaders, type RawHeaders } from "./header-map.ts";
import { HEADERS } from "./header-names.ts";
import { normalizeTransport } from "./transport.ts";

export interface InboxRow {
  readonly inboxId: string;
  readonly messageType: string;
  readonly projectId: string;
  readonly agentId: string;
  readonly channelId?: string | null | undefined;
  readonly agentTurnId?: string | null | undefined;
  readonly turnEpoch?: number | null | undefined;
  readonly correlationId?: string | null | undefined;
  /** An object, or the JSON text of one. */
  readonly contextHeaders: unknown;
  readonly payload: unknown;
}

export interface Replay {
  readonly context: CGContext;
  readonly payload: Payload;
}

/** What stored `context_headers` always hold. */
const STORED_HEADERS = [HEADERS.traceparent, HEADERS.recursionDepth] as const;

/** Messages that resume a turn; their source is a column of the row. */
const RESUME_TYPES: ReadonlySet<string> = new Set(["tool_result", "timeout"]);

const decodeText = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // JSON.parse quotes the text it fails on, which may hold secrets: only our own words are shown.
    throw violation("replay ingress: context_headers are not JSON");
  }
};

const storedHeaders = (stored: unknown): Record<string, string> => {
  const decoded = typeof stored === "string" ? decodeText(stored) : stored;
  if (typeof decoded !== "object" || decoded === null || Array.isArray(decoded)) {
    throw violation("replay ingress: context_headers are not an object");
  }
  const headers = normalizeHeaders(decoded as RawHeaders);
  for (const name of STORED_HEADERS) {
    if ((headers[name] ?? "").trim() === "") throw violation(`replay ingress: context_headers lack ${name}`);
  }
  return headers;
};

const firstFilled = (values: readonly unknown[]): string => {
  for (const value of values) {
    if (value === null || value === undefined) continue;
    if (typeof value !== "string") throw violation("replay ingress: an id of the row is not a string");
    if (value.trim() !== "") return value.trim();
  }
  return "";
};

const turnIdOf = (row: InboxRow, headers: HeaderMap): string => {
  const said = headers[HEADERS.turnId];
  if (row.messageType !== "turn") return firstFilled([row.agentTurnId, said]);
  const turnId = firstFilled([row.agentTurnId, row.correlationId, row.inboxId, said]);
  if (turnId === "") throw violation("replay ingress: a turn row without a turn id");
  return turnId;
};

export const replay = (row: InboxRow, ids: TraceIds): Replay => {
  const payload = payloadObject(row.payload);
  refuseControlFields(payload, "replay ingress", RESUME_TYPES.has(row.messageType));
  const { headers, traceId, depth = 0 } = normalizeTransport(storedHeaders(row.contextHeaders), ids);

  const rowEpoch = parseCountOrZero(row.turnEpoch, "turn_epoch");
  const draft = createContext({
    projectId: row.projectId,
    channelId: firstFilled([row.channelId, headers[HEADERS.channelId]]),
    agentId: row.agentId,
    agentTurnId: turnIdOf(row, headers),
    turnEpoch: rowEpoch > 0 ? rowEpoch : parseCountOrZero(headers[HEADERS.turnEpoch], HEADERS.turnEpoch),
    recursionDepth: depth,
    stepId: headers[HEADERS.stepId],
    toolCallId: headers[HEADERS.toolCallId],
    traceId,
    parentAgentId: headers[HEADERS.parentAgentId],
    parentAgentTurnId: headers[HEADERS.parentTurnId],
    parentStepId: headers[HEADERS.parentStepId],
  });
  headers[HEADERS.projectId] = draft.projectId;
  headers[HEADERS.channelId] = draft.channelId;
  headers[HEADERS.agentId] = draft.agentId;
  headers[HEADERS.turnId] = draft.agentTurnId;
  headers[HEADERS.turnEpoch] = String(draft.turnEpoch);
  if (draft.agentTurnId === "") delete headers[HEADERS.turnId];
  return { context: buildContext(draft, headers), payload };
};
