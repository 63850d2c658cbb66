import { expect, test } from "vitest";
import { createLabelLimit, createMetricRegistry } from "./metric-registry.ts";

test("[API-metrics-1] counters, histograms and values in the text form of Prometheus", () => {
  const registry = createMetricRegistry();
  const calls = registry.counter({ name: "calls_total", help: "Calls." });
  calls.add({ tool: "a" });
  calls.add({ tool: "a" });
  calls.add({ tool: 'b"\\\n' });
  const seconds = registry.histogram({ name: "call_seconds", help: "How long." });
  seconds.observe(0.003, { tool: "a" });
  seconds.observe(1_000, { tool: "a" });
  registry.read({ name: "depth", help: "Waiting." }, () => [
    { labels: { target: "x" }, value: 2 },
    { value: Number.NaN },
  ]);
  const text = registry.render();
  expect(text).toContain('# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total{tool="a"} 2\n');
  expect(text).toContain('calls_total{tool="b\\"\\\\\\n"} 1\n');
  expect(text).toContain('call_seconds_bucket{le="0.001",tool="a"} 0\n');
  expect(text).toContain('call_seconds_bucket{le="0.005",tool="a"} 1\n');
  expect(text).toContain('call_seconds_bucket{le="300",tool="a"} 1\n');
  expect(text).toContain('call_seconds_bucket{le="+Inf",tool="a"} 2\n');
  expect(text).toContain('call_seconds_count{tool="a"} 2\n');
  expect(text).toContain('depth{target="x"} 2\n');
  expect(text).not.toContain("NaN");
});

test("[API-metrics-2] a label has a bounded number of values; the rest is counted together", () => {
  const limit = createLabelLimit(2);
  expect(["a", "b", "c", "a", "d"].map(limit)).toEqual(["a", "b", "other", "a", "other"]);
});
