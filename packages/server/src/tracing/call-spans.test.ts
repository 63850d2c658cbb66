import type { CallChange } from "@toolplane/engine";
import { HEADERS } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { planDispatchSpan, planSettledSpans } from "./call-spans.ts";
import { spanIdOf } from "./span.ts";

const TRACE = "a".repeat(32);
const SENT = "b".repeat(16);
const change = (more: Partial<CallChange> = {}): CallChange => ({
  ...{ projectId: "p", toolCallId: "c", agentId: "a", channelId: "public", agentTurnId: "turn_1", stepId: "step_1" },
  ...{ toolName: "echo", target: "text", traceId: TRACE, headless: false, status: "success" },
  headers: { [HEADERS.traceparent]: `00-${TRACE}-${SENT}-01`, [HEADERS.timestamp]: "1000" },
  ...more,
});

test("[API-otel-4] a direct call that begins a trace has its dispatch as the root, under the id its command carries", () => {
  const direct = change({ headless: true, headers: JSON.stringify(change().headers), status: "queued" });
  expect(planDispatchSpan(direct, { isNew: true, beginsTrace: true }, 1_005)).toMatchObject({
    ...{ traceId: TRACE, spanId: SENT, parentId: undefined, name: "dispatch echo", startMs: 1_000, endMs: 1_005 },
  });
  expect(planDispatchSpan(direct, { isNew: true }, 1_005)).toMatchObject({ parentId: SENT });
  expect(planSettledSpans(change({ headless: true }), {}, { leasedAt: undefined, now: 1_100 })[0]?.parentId).toBe(SENT);
});

test("[API-otel-4] a call of a step hangs under the step, and its run has the id of the report", () => {
  const run = "c".repeat(16);
  const news = { traceparent: `00-${TRACE}-${run}-01`, settlingAt: 1_090 };
  const spans = planSettledSpans(change(), news, { leasedAt: 1_010, now: 1_100 });
  const of = (name: string) => spans.find((span) => span.name === name) ?? expect.unreachable(name);
  const call = spanIdOf(TRACE, "c");
  expect(of("call echo")).toMatchObject({
    spanId: call,
    parentId: spanIdOf(TRACE, "step_1"),
    startMs: 1_000,
    endMs: 1_100,
  });
  expect(of("queue")).toMatchObject({ parentId: call, startMs: 1_000, endMs: 1_010 });
  expect(of("lease")).toMatchObject({ parentId: call, startMs: 1_010, endMs: 1_100 });
  expect(of("run echo")).toMatchObject({ spanId: run, parentId: of("lease").spanId, startMs: 1_010, endMs: 1_090 });
  expect(of("settle")).toMatchObject({ parentId: call, startMs: 1_090, endMs: 1_100 });
});

test("[API-otel-4] a failure says its code; a report of another trace gives no id", () => {
  const news = { traceparent: `00-${"d".repeat(32)}-${"c".repeat(16)}-01`, errorCode: "timeout" };
  const spans = planSettledSpans(change({ status: "failed" }), news, { leasedAt: undefined, now: 1_100 });
  expect(spans.map(({ name }) => name)).toEqual(["call echo", "settle"]);
  expect(spans[0]?.error).toBe("timeout");
});
