// The spans of a call: dispatch when it is made; at its end the whole call with its waiting, its lease, its run and its settlement.
//   TC1. A direct call whose caller sent no traceparent begins a trace; its dispatch is the root, under the span id of its command.
//   TC2. Every other call hangs under its step, or under the span that its caller sent.
//   TC3. Waiting and running are known to the process where the call was leased; another process tells of the call and the run only.

import type { CallChange, CallNews } from "@toolplane/engine";
import { HEADERS, type HeaderMap, isRecord, tryParseTraceparent } from "@toolplane/protocol";
import { type Span, spanIdOf } from "./span.ts";

const headersOf = ({ headers }: CallChange): HeaderMap => {
  if (typeof headers !== "string") return headers;
  const parsed: unknown = JSON.parse(headers);
  return isRecord(parsed) ? (parsed as HeaderMap) : {};
};

interface Place {
  readonly parentId: string | undefined;
  readonly madeAt: number;
  readonly attributes: Span["attributes"];
}

const placeOf = (change: CallChange, now: number): Place => {
  const headers = headersOf(change);
  const sent = tryParseTraceparent(headers[HEADERS.traceparent]);
  const stamped = Number(headers[HEADERS.timestamp]);
  return {
    parentId: change.headless ? sent?.spanId : spanIdOf(change.traceId, change.stepId),
    madeAt: Number.isFinite(stamped) && stamped > 0 ? Math.min(stamped, now) : now,
    attributes: {
      "cg.project_id": change.projectId,
      "cg.agent_id": change.agentId,
      "cg.agent_turn_id": change.agentTurnId,
      "cg.tool_call_id": change.toolCallId,
      "toolplane.tool_name": change.toolName,
      "toolplane.target": change.target,
    },
  };
};

const callId = ({ traceId, toolCallId }: CallChange): string => spanIdOf(traceId, toolCallId);

export const planDispatchSpan = (change: CallChange, news: CallNews, now: number): Span => {
  const { parentId, madeAt, attributes } = placeOf(change, now);
  const isRoot = news.beginsTrace === true && parentId !== undefined;
  return {
    traceId: change.traceId,
    spanId: isRoot ? parentId : spanIdOf(change.traceId, `${change.toolCallId}/dispatch`),
    parentId: isRoot ? undefined : parentId,
    name: `dispatch ${change.toolName}`,
    startMs: madeAt,
    endMs: now,
    attributes,
  };
};

export interface CallTimes {
  /** When it was leased in this process. */
  readonly leasedAt: number | undefined;
  readonly now: number;
}

export const planSettledSpans = (change: CallChange, news: CallNews, { leasedAt, now }: CallTimes): readonly Span[] => {
  const { traceId, toolCallId, toolName, status } = change;
  const { parentId, madeAt, attributes } = placeOf(change, now);
  const error = status === "success" || status === "partial" ? undefined : (news.errorCode ?? status);
  const whole: Span = {
    traceId,
    spanId: callId(change),
    parentId,
    name: `call ${toolName}`,
    startMs: madeAt,
    endMs: now,
    attributes: { ...attributes, "toolplane.status": status },
    error,
  };
  const under = { traceId, attributes: { "cg.tool_call_id": toolCallId } };
  const settlingAt = Math.min(news.settlingAt ?? now, now);
  const settle: Span = {
    ...under,
    spanId: spanIdOf(traceId, `${toolCallId}/settle`),
    parentId: whole.spanId,
    name: "settle",
    startMs: settlingAt,
    endMs: now,
  };
  const reported = tryParseTraceparent(news.traceparent);
  const isOurs = reported?.traceId === traceId && reported.spanId !== parentId;
  const runId = isOurs ? reported.spanId : spanIdOf(traceId, `${toolCallId}/run`);
  const run = { ...under, spanId: runId, name: `run ${toolName}`, endMs: settlingAt, error };
  if (leasedAt === undefined)
    return isOurs ? [whole, { ...run, parentId: whole.spanId, startMs: settlingAt }, settle] : [whole, settle];
  const lease: Span = {
    ...under,
    spanId: spanIdOf(traceId, `${toolCallId}/lease`),
    parentId: whole.spanId,
    name: "lease",
    startMs: leasedAt,
    endMs: now,
  };
  const queue: Span = {
    ...under,
    spanId: spanIdOf(traceId, `${toolCallId}/queue`),
    parentId: whole.spanId,
    name: "queue",
    startMs: Math.min(madeAt, leasedAt),
    endMs: leasedAt,
  };
  return [whole, queue, lease, { ...run, parentId: lease.spanId, startMs: Math.min(leasedAt, settlingAt) }, settle];
};
