// Sends spans to a collector (OTLP over HTTP), in batches, beside the work.
//   TE1. Handing a span over costs a push. The buffer is bounded: what does not fit is dropped and counted, and no call waits.
//   TE2. One request is under way at a time. A collector that does not answer is asked again with the same batch, then the batch is
//        dropped; that it is away is logged once, and that it is back.
//   TE3. Whether a trace is sent depends on its id alone, so a trace is sent whole or not at all, by every process alike.

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Clock, Log } from "@toolplane/engine";
import type { OtelSettings } from "./otel-settings.ts";
import { otlpBody } from "./otlp-body.ts";
import type { Span } from "./span.ts";

export interface SpanExporter {
  add(spans: readonly Span[]): void;
  /** Spans that were not sent: the buffer was full, or the collector did not take them. */
  dropped(): number;
  sent(): number;
  /** Sends what is left, for at most this long. */
  stop(graceMs: number): Promise<void>;
}

export type SendSpans = (body: Buffer, signal: AbortSignal) => Promise<boolean>;

export interface ExporterOptions {
  readonly settings: OtelSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** True when the collector took them. */
  readonly send: SendSpans;
}

const gzipped = promisify(gzip);

const TRIES = 3;
/** The last digits of a trace id are random, also in one that begins with the time. */
const RATIO_DIGITS = 8;

const isSampled = (traceId: string, ratio: number): boolean =>
  ratio >= 1 || Number.parseInt(traceId.slice(-RATIO_DIGITS), 16) < ratio * 16 ** RATIO_DIGITS;

export const createSender =
  ({ url, headers, timeoutMs, protocol, isGzipped }: OtelSettings): SendSpans =>
  async (body, signal) => {
    const contentType = protocol === "http/json" ? "application/json" : "application/x-protobuf";
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": contentType, ...(isGzipped ? { "content-encoding": "gzip" } : {}) },
      body: new Uint8Array(isGzipped ? await gzipped(body) : body),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return response.ok;
  };

export const createSpanExporter = ({ settings, clock, log, send }: ExporterOptions): SpanExporter => {
  const { maxQueue, maxBatch, delayMs } = settings;
  let waiting: Span[] = [];
  let dropped = 0;
  let sent = 0;
  let isAway = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stopping = new AbortController();
  const cut = new AbortController();

  const trySend = async (body: Buffer): Promise<boolean> => {
    for (let tried = 1; ; tried++) {
      const isTaken = await send(body, cut.signal).catch(() => false);
      if (isTaken || tried === TRIES || cut.signal.aborted) return isTaken;
      await clock.sleep(delayMs * tried, AbortSignal.any([stopping.signal, cut.signal]));
    }
  };

  const sendBatch = async (): Promise<void> => {
    const batch = waiting.slice(0, maxBatch);
    waiting = waiting.slice(maxBatch);
    const isTaken = await trySend(otlpBody(batch, settings));
    if (isTaken) sent += batch.length;
    else dropped += batch.length;
    if (isTaken === isAway)
      if (isTaken) log.info("traces are sent again", { dropped });
      else log.warn("traces are dropped: the collector does not take them", { endpoint: new URL(settings.url).origin });
    isAway = !isTaken;
  };

  const run = async (least: number): Promise<void> => {
    while (waiting.length >= least && waiting.length > 0 && !cut.signal.aborted) await sendBatch();
  };

  const flush = (least: number): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    running ??= run(least).finally(() => {
      running = undefined;
      wake();
    });
    return running;
  };

  /** A full batch leaves at once, a smaller one after a while. */
  const wake = (): void => {
    if (waiting.length === 0 || running !== undefined || cut.signal.aborted) return;
    if (waiting.length >= maxBatch) void flush(maxBatch);
    else timer ??= setTimeout(() => void flush(1), delayMs).unref();
  };

  return {
    add(spans) {
      for (const span of spans) {
        if (!isSampled(span.traceId, settings.ratio)) continue;
        if (waiting.length < maxQueue) waiting.push(span);
        else dropped += 1;
      }
      wake();
    },
    dropped: () => dropped,
    sent: () => sent,
    async stop(graceMs) {
      stopping.abort();
      const over = setTimeout(() => cut.abort(), graceMs);
      while (waiting.length > 0 && !cut.signal.aborted) await flush(1);
      await running;
      clearTimeout(over);
      clearTimeout(timer);
      dropped += waiting.length;
      waiting = [];
      cut.abort();
    },
  };
};
