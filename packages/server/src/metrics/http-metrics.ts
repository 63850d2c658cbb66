// What is counted of requests: by route of the table, so that ids in paths make no series of their own.

import type { MetricRegistry } from "./metric-registry.ts";

export interface HttpMetrics {
  readonly now: () => number;
  /** A request that began then was answered; of a stream: it began to be. */
  answered(route: string, status: number, beganAt: number): void;
  /** Values that the application knows; each is read when the page is made. */
  watch(read: () => { readonly readers: number; readonly waiting: number }): void;
}

/** What limits and breakers refuse has a label of its own. */
const REFUSALS: ReadonlySet<number> = new Set([429, 503]);

export const createHttpMetrics = (registry: MetricRegistry, now: () => number): HttpMetrics => {
  const requests = registry.counter({
    name: "toolplane_http_requests_total",
    help: "Requests, by route and class of the status.",
  });
  const seconds = registry.histogram({
    name: "toolplane_http_request_seconds",
    help: "From a request to its answer, by route; long polls are among them.",
  });
  let open: () => { readonly readers: number; readonly waiting: number } = () => ({ readers: 0, waiting: 0 });
  registry.read({ name: "toolplane_event_readers", help: "Open streams of events and of batches." }, () => [
    { value: open().readers },
  ]);
  registry.read({ name: "toolplane_waiting_requests", help: "Requests that wait for work or for a result." }, () => [
    { value: open().waiting },
  ]);
  return {
    now,
    answered(route, status, beganAt) {
      // A request that a limit refused is told apart.
      requests.add({ route, status: REFUSALS.has(status) ? String(status) : `${Math.trunc(status / 100)}xx` });
      seconds.observe(Math.max(now() - beganAt, 0) / 1_000, { route });
    },
    watch(read) {
      open = read;
    },
  };
};
