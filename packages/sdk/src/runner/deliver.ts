// Hands a result over: in one step (settle) or in the protocol's two (write the card, report a pointer to it).
//   DV1. One result per call. A second one is sent only when the plane refused the content of the first; it says so.
//   DV2. The delivery is retried until ten minutes after the lease has ended (SETTLE_GRACE_MS): the plane may have been away, and decides itself
//        whether the lease still counts. That is safe, because the same result twice is one result.

import {
  asActor,
  type CGContext,
  isToolplaneError,
  type JsonObject,
  type ToolplaneError,
  type TraceIds,
  understandError,
  withToolCall,
} from "@toolplane/protocol";
import { withTraceTransport } from "@toolplane/protocol/agents";
import type { Diagnostics, Patience, Report, ToolGateway } from "../gateway/gateway.ts";
import { writeResultCard } from "../gateway/write-result.ts";
import type { ReadyResult } from "./build-outcome.ts";

export type DeliveryMode = "one-step" | "two-step";

export interface DeliveryDeps {
  readonly gateway: Pick<ToolGateway, "settle" | "putCard" | "report">;
  readonly mode: DeliveryMode;
  readonly actor: string;
  readonly ids: TraceIds;
}

export interface Deliverable {
  /** The command's context as it came in. */
  readonly context: CGContext;
  readonly toolCallId: string;
  readonly leaseId: string | undefined;
  /** The run's own span. */
  readonly traceparent: string;
  readonly definitionHash: string | undefined;
  readonly sessionState: JsonObject | undefined;
  readonly views?: JsonObject | undefined;
  readonly diagnostics?: Diagnostics | undefined;
  readonly patience: Patience;
}

/** `late`: the call had settled with another result. `lost`: the lease, or the call, is gone. */
export type DeliveryEnd = "settled" | "late" | "lost" | "undelivered";

export type Refusal = "late" | "lost" | "replace" | "undelivered";

const REPLACED: ReadonlySet<string> = new Set([
  "bad_request",
  "protocol_violation",
  "payload_too_large",
  "result_too_large",
  "result_not_serializable",
  "error_not_serializable",
  "invalid_status",
  "invalid_after_execution",
]);

/** What a refused delivery means: without a lease nothing can be reported; content that is refused is replaced by a failure. */
export const planRefusal = ({ code }: ToolplaneError): Refusal => {
  if (code === "lease_lost" || code === "not_found" || code === "canceled") return "lost";
  if (code === "already_settled" || code === "conflict") return "late";
  return REPLACED.has(code) ? "replace" : "undelivered";
};

export const reportOf = (
  result: ReadyResult,
  { context, toolCallId, leaseId, traceparent }: Omit<Deliverable, "patience">,
  { actor, ids }: Pick<DeliveryDeps, "actor" | "ids">,
): Report => ({
  source: asActor(context, actor),
  target: withTraceTransport(withToolCall(context, toolCallId), { traceparent }, ids),
  payload: result.payload,
  leaseId,
});

/** Returns what was sent; when another writer was first, that writer's result. */
const send = async (result: ReadyResult, to: Deliverable, deps: DeliveryDeps): Promise<ReadyResult> => {
  const { gateway } = deps;
  if (deps.mode === "two-step") {
    const written = { card: result.card(), payload: result.payload, leaseId: to.leaseId };
    const sent = { ...result, payload: await writeResultCard(gateway, written, to.patience) };
    await gateway.report(reportOf(sent, to, deps), to.patience);
    return sent;
  }
  const { status, result: value, error } = result.content;
  await gateway.settle(
    {
      toolCallId: to.toolCallId,
      leaseId: to.leaseId,
      status: result.payload.status,
      result: value,
      error: status === "success" ? null : error,
      definitionHash: to.definitionHash,
      sessionState: to.sessionState,
      views: to.views,
      diagnostics: to.diagnostics,
      strippedControl: result.strippedControl,
      traceparent: to.traceparent,
    },
    to.patience,
  );
  return result;
};

export interface Delivered {
  readonly end: DeliveryEnd;
  /** What was sent last. */
  readonly result: ReadyResult;
  readonly error?: ToolplaneError;
}

const trySend = async (
  result: ReadyResult,
  to: Deliverable,
  deps: DeliveryDeps,
): Promise<ReadyResult | ToolplaneError> => {
  try {
    return await send(result, to, deps);
  } catch (thrown) {
    return understandError(thrown);
  }
};

const endOf = (refusal: Refusal): DeliveryEnd => (refusal === "replace" ? "undelivered" : refusal);

/** `replace` makes the result that is sent when this one is refused for what it contains. */
export const deliver = async (
  result: ReadyResult,
  replace: ((refused: ToolplaneError) => ReadyResult) | undefined,
  to: Deliverable,
  deps: DeliveryDeps,
): Promise<Delivered> => {
  const sent = await trySend(result, to, deps);
  if (!isToolplaneError(sent)) return { end: "settled", result: sent };
  const refusal = planRefusal(sent);
  if (refusal !== "replace" || replace === undefined) return { end: endOf(refusal), result, error: sent };
  const second = replace(sent);
  const again = await trySend(second, { ...to, sessionState: undefined, views: undefined }, deps);
  if (!isToolplaneError(again)) return { end: "settled", result: again, error: sent };
  return { end: endOf(planRefusal(again)), result: second, error: again };
};
