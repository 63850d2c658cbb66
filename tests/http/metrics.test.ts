// GET /metrics: who may read it, what it says after a call, and that the dashboard asks for what there is.

import { readFileSync } from "node:fs";
import { type Engine, systemClock } from "@toolplane/engine";
import { createPlaneMetrics } from "@toolplane/server/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const SCRAPER = "a-token-for-the-scraper";
let http: HttpStack;
let engine: Engine | undefined;
const metrics = createPlaneMetrics({
  engine: () => engine,
  info: { version: "1.2.3", store: "postgres", bus: "postgres", roles: "api" },
  longestPauseMs: () => 12,
  now: systemClock.now,
});
beforeAll(async () => {
  http = await startHttpStack({ observe: metrics.observe }, { metrics, metricsToken: SCRAPER });
  engine = http.t.engine;
});
afterAll(() => http[Symbol.asyncDispose]());

const read = async (token: string | null, headers: Record<string, string> = {}) => {
  const bearer = token === null ? {} : { authorization: `Bearer ${token}` };
  const response = await http.raw("/metrics", { headers: { ...bearer, ...headers } });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
};

const runCall = async (status: "success" | "failed"): Promise<void> => {
  await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  const [leased] = await http.t.engine.calls.claim({ projectId: "demo", target: "test", holder: "test", max: 1 });
  const path = `/projects/demo/calls/${leased?.facts.toolCallId}/result`;
  const error = status === "failed" ? { code: "tool_error", message: "no" } : undefined;
  await http.send("POST", path, { lease: leased?.lease.id, status, result: {}, error });
};

test("[API-metrics-1] after calls the page has rates, times, depths, leases, the pool and the process", async () => {
  await runCall("success");
  await runCall("failed");
  await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  const { text, type } = await read(SCRAPER);
  expect(type).toBe("text/plain; version=0.0.4; charset=utf-8");
  for (const line of [
    'toolplane_calls_dispatched_total{tool="safe"} 3',
    'toolplane_calls_leased_total{tool="safe"} 2',
    'toolplane_calls_settled_total{tool="safe",status="success"} 1',
    'toolplane_calls_settled_total{tool="safe",status="failed"} 1',
    'toolplane_call_seconds_count{tool="safe"} 2',
    'toolplane_call_queue_seconds_count{tool="safe"} 2',
    'toolplane_call_run_seconds_count{tool="safe"} 2',
    'toolplane_live_calls{target="test",status="queued"} 1',
    'toolplane_limited_calls{target="test",status="queued"} 0',
    "toolplane_open_breakers 0",
    "toolplane_leases 0",
    "toolplane_outbox_messages 0",
    "toolplane_outbox_lag_seconds 0",
    "toolplane_event_readers 0",
    "toolplane_event_loop_pause_seconds 0.012",
    'toolplane_http_requests_total{route="POST /projects/:project/calls",status="2xx"} 3',
  ])
    expect(text.split("\n")).toContain(line);
  expect(text).toMatch(/^toolplane_database_connections [1-9]/m);
  expect(text).toMatch(/^toolplane_database_statements_total [1-9]/m);
  expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m);
  // Every line is one of the format.
  for (const line of text.trimEnd().split("\n"))
    expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[^{}]*\})? [0-9.e+-]+)$/);
});

test("[API-metrics-3] metrics are for administrators and the scraper, whose token opens nothing else", async () => {
  const { tokens } = http.t.engine;
  expect((await read(http.admin)).status).toBe(200);
  expect((await read(SCRAPER)).status).toBe(200);
  for (const role of ["operator", "viewer", "agent"] as const)
    expect((await read((await tokens.create({ role, projectId: "demo" })).secret)).status).toBe(403);
  expect((await read(await http.toolToken())).status).toBe(403);
  for (const token of [null, "", "wrong", `${SCRAPER}x`]) expect((await read(token)).status).toBe(401);
  expect((await http.send("GET", "/tokens", undefined, { token: SCRAPER })).status).toBe(401);
  expect((await http.send("POST", "/metrics", undefined, { token: SCRAPER })).status).toBe(405);
});

test("[API-metrics-2] scraping often asks the database no more often", async () => {
  await read(SCRAPER);
  const before = http.t.engine.db.stats().statements;
  await Promise.all(Array.from({ length: 20 }, () => read(SCRAPER)));
  expect(http.t.engine.db.stats().statements - before).toBeLessThanOrEqual(2);
});

test("[API-metrics-4] every query of the dashboard names metrics of the page", async () => {
  const file = new URL("../../deploy/grafana/toolplane.json", import.meta.url);
  const { panels } = JSON.parse(readFileSync(file, "utf8")) as {
    panels: readonly { targets: readonly { expr: string }[] }[];
  };
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(15);
  const { text } = await read(SCRAPER);
  const known = new Set(
    text.split("\n").flatMap((line) => {
      const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
      if (name === undefined) return [];
      return type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
    }),
  );
  const asked = queries.flatMap((query) => query.match(/\b(toolplane|process)_[a-z_]+/g) ?? []);
  expect(asked.filter((name) => !known.has(name))).toEqual([]);
});
