import type { CallChange } from "@toolplane/engine";
import { HEADERS } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { createCallMetrics } from "./call-metrics.ts";
import { createMetricRegistry } from "./metric-registry.ts";

const START = 1_000_000;
const change = (more: Partial<CallChange>): CallChange =>
  ({
    projectId: "p",
    toolCallId: "c1",
    toolName: "echo",
    status: "queued",
    headers: { [HEADERS.timestamp]: String(START) },
    ...more,
  }) as CallChange;

test("[API-metrics-1] a call's rate, its waiting, its running and its end are counted by tool", () => {
  const registry = createMetricRegistry();
  let now = START;
  const observe = createCallMetrics(registry, () => now);
  observe(change({ headers: "{}" }), { isNew: true });
  now = START + 40;
  observe(change({ status: "running" }));
  now = START + 240;
  observe(change({ status: "success" }));
  // Leased by another process: only the whole is known.
  observe(change({ toolCallId: "c2", status: "failed" }));
  const text = registry.render();
  expect(text).toContain('toolplane_calls_dispatched_total{tool="echo"} 1\n');
  expect(text).toContain('toolplane_calls_settled_total{tool="echo",status="success"} 1\n');
  expect(text).toContain('toolplane_calls_settled_total{tool="echo",status="failed"} 1\n');
  expect(text).toContain('toolplane_call_queue_seconds_bucket{le="0.05",tool="echo"} 1\n');
  expect(text).toContain('toolplane_call_run_seconds_sum{tool="echo"} 0.2\n');
  expect(text).toContain('toolplane_call_seconds_count{tool="echo"} 2\n');
});

test("[API-metrics-1] a call that lost its service is counted as requeued", () => {
  const registry = createMetricRegistry();
  const observe = createCallMetrics(registry, () => START);
  observe(change({ status: "running" }));
  observe(change({ status: "queued" }));
  expect(registry.render()).toContain('toolplane_calls_requeued_total{tool="echo"} 1\n');
});

test("[API-metrics-2] ten thousand tools are a hundred series and one more", () => {
  const registry = createMetricRegistry();
  const observe = createCallMetrics(registry, () => START);
  for (let n = 0; n < 10_000; n++) observe(change({ toolCallId: `c${n}`, toolName: `tool_${n}`, status: "success" }));
  const lines = registry.render().split("\n");
  expect(lines.filter((line) => line.startsWith("toolplane_calls_settled_total{"))).toHaveLength(101);
  expect(lines).toContain('toolplane_calls_settled_total{tool="other",status="success"} 9900');
});
