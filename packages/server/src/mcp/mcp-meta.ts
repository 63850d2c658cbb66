// What a request's `_meta` says to the plane: the idempotency key, the agent, the trace. A JSON-RPC id is not a key: every client counts
// from the beginning.

import { parseWith } from "@toolplane/protocol";
import { z } from "zod";

export const META_KEY = "toolplane/idempotency_key";
const META_AGENT = "toolplane/agent_id";
export const META_CALL = "toolplane/tool_call_id";
export const META_CARD = "toolplane/tool_result_card_id";
export const META_TRACE = "toolplane/trace_id";

/** Other programs put their own keys into `_meta`: those are not looked at. */
const callMeta = z.looseObject({
  [META_KEY]: z.string().min(1).max(255).optional(),
  [META_AGENT]: z.string().min(1).max(128).optional(),
  progressToken: z.union([z.string(), z.number()]).optional(),
  traceparent: z.string().max(256).optional(),
  tracestate: z.string().max(1024).optional(),
});

export interface CallMeta {
  readonly key: string | undefined;
  readonly agentId: string | undefined;
  readonly progressToken: string | number | undefined;
  /** The trace that the call joins, as headers of a request would say it. */
  readonly trace: Headers;
}

export const parseCallMeta = (meta: unknown): CallMeta => {
  const said = parseWith(callMeta, meta ?? {}, "_meta");
  const trace = new Headers();
  if (said.traceparent !== undefined) trace.set("traceparent", said.traceparent);
  if (said.tracestate !== undefined) trace.set("tracestate", said.tracestate);
  return { key: said[META_KEY], agentId: said[META_AGENT], progressToken: said.progressToken, trace };
};
