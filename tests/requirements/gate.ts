// Webhooks, metrics and traces.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "API-metrics-1", source: "interfaces 4", part: "server", text: "GET /metrics has rates and latencies by tool, queue depths, leases, outbox lag, pool use, readers and pauses of the event loop in the text form of Prometheus." },
  { id: "API-metrics-2", source: "interfaces 4", part: "server", text: "The number of series is bounded whatever names tools and targets have; no call runs a statement for a metric." },
  { id: "API-metrics-3", source: "security 2.11", part: "server", text: "Metrics are for administrators and for a scraper's own token, which opens nothing else." },
  { id: "API-metrics-4", source: "interfaces 4", part: "server", text: "Every query of the Grafana dashboard names metrics that /metrics has." },
  { id: "API-otel-1", source: "interfaces 4", part: "server", text: "Traces are off by default and on by the standard OTEL_* variables; one that cannot be used is refused by name." },
  { id: "API-otel-2", source: "interfaces 4", part: "server", text: "Spans leave in batches over OTLP/HTTP; a trace is sampled whole." },
  { id: "API-otel-3", source: "interfaces 4", part: "server", text: "A collector that is slow or away costs spans, which are counted, and never delays or fails a call." },
  { id: "API-otel-4", source: "interfaces 4", part: "server", text: "Spans have the ids that the protocol carries; a turn with parallel calls and a delegation is one connected tree." },
  { id: "API-webhook-1", source: "interfaces 4", part: "server", text: "A webhook of a project or of a call is told the events it names, each once, in order per call." },
  { id: "API-webhook-2", source: "interfaces 4", part: "server", text: "Deliveries are signed over id, time and body; the secret is in the database only sealed with a key that is not." },
  { id: "API-webhook-3", source: "interfaces 4", part: "server", text: "A delivery that fails is tried again with the same id after growing pauses, also after a crash, then it is dead and can be replayed." },
  { id: "API-webhook-4", source: "security 2.6", part: "server", text: "Webhooks reach only hosts that the operator allows, through the egress guard: no local address, no redirect, no long answer." },
  { id: "API-webhook-5", source: "interfaces 4", part: "server", text: "Without webhooks no event is read and a call costs the same." },
  { id: "SEC-7-LOG1", source: "security 2.7", part: "server", text: "What has the form of a token, a session, a login code, a signing secret or a password in an address is masked in every line of the log." },
] as const satisfies readonly Rule[];
