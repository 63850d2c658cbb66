import { silentLog, systemClock } from "@toolplane/engine";
import { expect, test, vi } from "vitest";
import { createSpanExporter, type SendSpans } from "./otlp-exporter.ts";
import type { Span } from "./span.ts";

const SETTINGS = {
  ...{ url: "http://localhost:1/v1/traces", headers: {}, resource: { "service.name": "test" } },
  ...{
    protocol: "http/json" as "http/json" | "http/protobuf",
    isGzipped: false,
    ratio: 1,
    timeoutMs: 1_000,
    delayMs: 1,
    maxQueue: 10,
    maxBatch: 4,
  },
};

const span = (n: number, more: Partial<Span> = {}): Span => ({
  traceId: n.toString(16).padStart(32, "0"),
  spanId: "1".repeat(16),
  parentId: undefined,
  name: `span ${n}`,
  startMs: 1,
  endMs: 2,
  attributes: { text: "a", number: 1.5, whole: 2, truth: true, nothing: undefined },
  ...more,
});

const start = (send: SendSpans, more: Partial<typeof SETTINGS> = {}) =>
  createSpanExporter({ settings: { ...SETTINGS, ...more }, clock: systemClock, log: silentLog, send });

test("[API-otel-2] spans leave in batches, as OTLP in JSON", async () => {
  const bodies: Buffer[] = [];
  const exporter = start(async (body) => bodies.push(body) > 0);
  exporter.add(
    Array.from({ length: 6 }, (_, n) => span(n, n === 0 ? { error: "timeout", parentId: "2".repeat(16) } : {})),
  );
  await vi.waitUntil(() => exporter.sent() === 6);
  const spans = bodies.flatMap((body) => JSON.parse(body.toString()).resourceSpans[0].scopeSpans[0].spans);
  expect(spans.map(({ name }) => name)).toEqual(Array.from({ length: 6 }, (_, n) => `span ${n}`));
  expect(spans[0]).toMatchObject({
    parentSpanId: "2".repeat(16),
    startTimeUnixNano: "1000000",
    endTimeUnixNano: "2000000",
    status: { code: 2, message: "timeout" },
    attributes: [
      { key: "text", value: { stringValue: "a" } },
      { key: "number", value: { doubleValue: 1.5 } },
      { key: "whole", value: { intValue: "2" } },
      { key: "truth", value: { boolValue: true } },
    ],
  });
  await exporter.stop(1_000);
});

test("[API-otel-3] a collector that does not answer costs spans, which are counted, and nothing else", async () => {
  const never: SendSpans = (_body, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  const exporter = start(never);
  // Four are under way, ten wait, six do not fit.
  for (let n = 0; n < 20; n++) exporter.add([span(n)]);
  expect(exporter.dropped()).toBe(6);
  await exporter.stop(1);
  expect([exporter.sent(), exporter.dropped()]).toEqual([0, 20]);
});

test("[API-otel-3] a collector that fails is tried again, then its batch is dropped", async () => {
  let tries = 0;
  const exporter = start(async () => {
    tries += 1;
    if (tries === 2) return Promise.reject(new TypeError("away"));
    return false;
  });
  exporter.add([span(1)]);
  await vi.waitUntil(() => exporter.dropped() === 1);
  expect(tries).toBe(3);
  await exporter.stop(1);
});

test("[API-otel-3] stopping sends what is left", async () => {
  const exporter = start(async () => true, { delayMs: 100_000 });
  exporter.add([span(1), span(2)]);
  await exporter.stop(10_000);
  expect([exporter.sent(), exporter.dropped()]).toEqual([2, 0]);
});

test("[API-otel-2] a trace is sampled whole, by its id", async () => {
  const exporter = start(async () => true, { ratio: 0.5, maxQueue: 100 });
  const low = `${"0".repeat(31)}1`;
  const high = `${"0".repeat(24)}ffffffff`;
  exporter.add([span(1, { traceId: low }), span(1, { traceId: low }), span(1, { traceId: high })]);
  await exporter.stop(10_000);
  expect(exporter.sent()).toBe(2);
});
