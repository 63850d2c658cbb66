// Tracing, put together: what the engine and the worker tell becomes spans, and the spans go to the exporter. Off by default: then
// nothing is observed, and the exporter is not even loaded.

import type { TurnObserver } from "@toolplane/agents";
import { type CallObserver, createRecent, isSettled, type Log, systemClock } from "@toolplane/engine";
import type { MetricRegistry } from "../metrics/metric-registry.ts";
import { planDispatchSpan, planSettledSpans } from "./call-spans.ts";
import { readOtelSettings } from "./otel-settings.ts";
import type { Span } from "./span.ts";
import { planModelSpan, planResumeSpan, planStepSpan, planTurnSpan } from "./turn-spans.ts";

export interface Tracing {
  /** Undefined while tracing is off. */
  readonly calls: CallObserver | undefined;
  readonly turns: TurnObserver | undefined;
  stop(graceMs: number): Promise<void>;
}

const OFF: Tracing = { calls: undefined, turns: undefined, stop: async () => {} };

/** Calls that were leased here and have not settled here; the oldest are forgotten when there are more. */
const MAX_RUNNING = 20_000;

/** Never throws: a span that cannot be made must not fail what it tells of. */
const observeCalls = (add: (spans: readonly Span[]) => void, now: () => number): CallObserver => {
  const leasedAt = createRecent<number>(MAX_RUNNING);
  return (change, news = {}) => {
    try {
      const key = `${change.projectId}/${change.toolCallId}`;
      if (news.isNew === true) add([planDispatchSpan(change, news, now())]);
      else if (change.status === "running") leasedAt.set(key, now());
      else if (isSettled(change.status)) {
        add(planSettledSpans(change, news, { leasedAt: leasedAt.get(key), now: now() }));
        leasedAt.delete(key);
      } else leasedAt.delete(key);
    } catch {
      // Told by the number of spans alone: the observer stands in the way of every call.
    }
  };
};

const observeTurns = (add: (spans: readonly Span[]) => void): TurnObserver => ({
  taken: (work, at) => {
    if (work.stepCount > 0) add([planResumeSpan(work, at)]);
  },
  asked: (work, call) => add([planModelSpan(work, call)]),
  stepped: (work, step) => add([planStepSpan(work, step)]),
  ended: (work, done) => add([planTurnSpan(work, done)]),
});

export const openTracing = async (options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly registry: MetricRegistry;
}): Promise<Tracing> => {
  const settings = readOtelSettings(options.env);
  if (settings === undefined) return OFF;
  const { createSender, createSpanExporter } = await import("./otlp-exporter.ts");
  const { log, registry } = options;
  const exporter = createSpanExporter({ settings, clock: systemClock, log, send: createSender(settings) });
  const spans = (name: string, help: string, value: () => number): void =>
    registry.read({ name, help, type: "counter" }, () => [{ value: value() }]);
  spans("toolplane_spans_sent_total", "Spans that a collector took.", exporter.sent);
  spans("toolplane_spans_dropped_total", "Spans that were not sent.", exporter.dropped);
  log.info("traces are sent", { endpoint: new URL(settings.url).origin });
  return {
    calls: observeCalls(exporter.add, systemClock.now),
    turns: observeTurns(exporter.add),
    stop: exporter.stop,
  };
};
