// The page of /metrics: what this process has counted, and what waits in the plane at this moment.

import { memoryUsage } from "node:process";
import type { CallObserver, Engine, PlaneDepths } from "@toolplane/engine";
import { createCallMetrics } from "./call-metrics.ts";
import { createHttpMetrics, type HttpMetrics } from "./http-metrics.ts";
import { createMetricRegistry, type MetricRegistry, type Sample } from "./metric-registry.ts";

export interface PlaneMetricsOptions {
  readonly engine: () => Engine | undefined;
  readonly info: Readonly<Record<string, string>>;
  /** The longest pause of the event loop in the last minute, in milliseconds. */
  readonly longestPauseMs: () => number;
  readonly now: () => number;
}

export interface PlaneMetrics {
  readonly observe: CallObserver;
  readonly http: HttpMetrics;
  /** For parts that count something of their own. */
  readonly registry: MetricRegistry;
  /** The page; it has the depths of the queues unless the database does not answer. */
  page(): Promise<string>;
}

const one = (value: number | undefined): readonly Sample[] => (value === undefined ? [] : [{ value }]);

const readDepths = (registry: MetricRegistry, depths: () => PlaneDepths | undefined): void => {
  registry.read({ name: "toolplane_live_calls", help: "Calls that have not ended, by target and status." }, () =>
    (depths()?.calls ?? []).map(({ target, status, calls }) => ({ labels: { target, status }, value: calls })),
  );
  registry.read(
    {
      name: "toolplane_oldest_call_seconds",
      help: "The age of the oldest call that has not ended, by target and status.",
    },
    () =>
      (depths()?.calls ?? []).map(({ target, status, oldestSeconds }) => ({
        labels: { target, status },
        value: oldestSeconds,
      })),
  );
  registry.read(
    { name: "toolplane_limited_calls", help: "Calls that have not ended and pass a limit, by target and status." },
    () =>
      (depths()?.calls ?? []).map(({ target, status, limited }) => ({ labels: { target, status }, value: limited })),
  );
  registry.read({ name: "toolplane_open_breakers", help: "Tools and targets whose breaker is open." }, () =>
    one(depths()?.openBreakers),
  );
  registry.read({ name: "toolplane_leases", help: "Calls that a tool service holds." }, () => {
    const calls = depths()?.calls;
    const running = calls?.filter(({ status }) => status === "running").reduce((sum, row) => sum + row.calls, 0);
    return one(running);
  });
  registry.read(
    { name: "toolplane_outbox_messages", help: "Messages that wait for the bus beside the database." },
    () => one(depths()?.outbox?.messages ?? (depths() && 0)),
  );
  registry.read(
    { name: "toolplane_outbox_lag_seconds", help: "The age of the oldest message that waits for the bus." },
    () => one(depths()?.outbox?.oldestSeconds ?? (depths() && 0)),
  );
};

const readDatabase = (registry: MetricRegistry, engine: () => Engine | undefined): void => {
  const stats = () => engine()?.db.stats();
  registry.read({ name: "toolplane_database_connections", help: "Open connections of this process's pool." }, () =>
    one(stats()?.connections),
  );
  registry.read({ name: "toolplane_database_waiting", help: "Work of this process that waits for a connection." }, () =>
    one(stats()?.waiting),
  );
  registry.read(
    { name: "toolplane_database_statements_total", help: "Statements that this process has run.", type: "counter" },
    () => one(stats()?.statements),
  );
};

const readProcess = (registry: MetricRegistry, { info, longestPauseMs }: PlaneMetricsOptions): void => {
  registry.read({ name: "toolplane_info", help: "What this process is." }, () => [{ labels: info, value: 1 }]);
  registry.read(
    { name: "toolplane_event_loop_pause_seconds", help: "The longest pause of the event loop in the last minute." },
    () => one(longestPauseMs() / 1_000),
  );
  registry.read({ name: "process_resident_memory_bytes", help: "Resident memory of this process." }, () =>
    one(memoryUsage.rss()),
  );
  registry.read(
    { name: "process_cpu_seconds_total", help: "Processor time that this process has used.", type: "counter" },
    () => {
      const { user, system } = process.cpuUsage();
      return one((user + system) / 1e6);
    },
  );
};

export const createPlaneMetrics = (options: PlaneMetricsOptions): PlaneMetrics => {
  const registry = createMetricRegistry();
  let depths: PlaneDepths | undefined;
  const observe = createCallMetrics(registry, options.now);
  const http = createHttpMetrics(registry, options.now);
  readDepths(registry, () => depths);
  readDatabase(registry, options.engine);
  readProcess(registry, options);
  return {
    observe,
    http,
    registry,
    async page() {
      depths = await options
        .engine()
        ?.depths()
        .catch(() => undefined);
      return registry.render();
    },
  };
};
