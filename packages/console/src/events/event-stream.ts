// The events of one project, read for as long as the page is open.
//   - A lost connection is opened again with Last-Event-ID, so no event is missed.
//   - When the server cannot continue from there, or the connection was away for long, the stream begins anew and `fresh` says
//     that everything has to be listed again. The first connection is fresh too: a list that is asked for then misses nothing.
//   - A connection that is silent for longer than the server's own signs of life is given up.

import { isRecord } from "../api/problem.ts";
import { createSseParser, type SentEvent } from "./sse-parser.ts";

export interface PlaneEvent {
  readonly subject: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** In the log, and repeated to a reader that comes back; otherwise it was shown as it passed. */
  readonly isLogged: boolean;
}

/** `missing`: the project is not there. */
export type StreamState = "connecting" | "live" | "away" | "refused" | "missing";

export interface StreamPorts {
  connect(lastId: string | undefined, signal: AbortSignal): Promise<Response>;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  now(): number;
}

export interface StreamListener {
  events(events: readonly PlaneEvent[]): void;
  state(state: StreamState): void;
  fresh(): void;
}

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5_000;
/** Repeating what happened in a longer absence takes longer than listing what is there now. */
const ABSENCE_MS = 60_000;
/** A page that is too slow would be slower still if it listed everything after each gap. */
const FRESH_EVERY_MS = 5_000;
/** The server says something every 15 seconds. */
const SILENCE_MS = 40_000;

const readEvent = ({ event, data }: SentEvent): PlaneEvent | undefined => {
  if (event !== "evt" && event !== "str") return undefined;
  try {
    const body: unknown = JSON.parse(data);
    if (!isRecord(body) || typeof body.subject !== "string") return undefined;
    return { subject: body.subject, payload: isRecord(body.payload) ? body.payload : {}, isLogged: event === "evt" };
  } catch {
    return undefined;
  }
};

/** Runs until the signal aborts, the server refuses the session, or the project is not there. */
export const runEventStream = async (
  ports: StreamPorts,
  listener: StreamListener,
  signal: AbortSignal,
): Promise<void> => {
  let lastId: string | undefined;
  let heardAt = ports.now();
  let pause = FIRST_PAUSE_MS;
  let freshAt = Number.NEGATIVE_INFINITY;

  const beFresh = (): void => {
    freshAt = ports.now();
    listener.fresh();
  };

  /** How the connection ended; after `refused` and `missing` there is no use in another one. */
  const readOnce = async (): Promise<"away" | "refused" | "missing"> => {
    if (ports.now() - heardAt > ABSENCE_MS) lastId = undefined;
    const quiet = new AbortController();
    const ended = AbortSignal.any([signal, quiet.signal]);
    const response = await ports.connect(lastId, ended);
    if (response.status === 401 || response.status === 403) return "refused";
    if (response.status === 404) return "missing";
    // The log does not know the id any more.
    if (response.status === 400) lastId = undefined;
    if (!response.ok || response.body === null) return "away";
    if (lastId === undefined) beFresh();
    listener.state("live");
    pause = FIRST_PAUSE_MS;
    const parser = createSseParser();
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    let watch = new AbortController();
    const expectMore = (): void => {
      watch.abort();
      watch = new AbortController();
      ports.sleep(SILENCE_MS, AbortSignal.any([watch.signal, ended])).then(
        () => quiet.abort(),
        () => undefined,
      );
    };
    try {
      for (;;) {
        expectMore();
        const { done, value } = await reader.read();
        if (done) return "away";
        heardAt = ports.now();
        const sent = parser.feed(decoder.decode(value, { stream: true }));
        lastId = sent.findLast(({ id }) => id !== undefined)?.id ?? lastId;
        const events = sent.map(readEvent).filter((event) => event !== undefined);
        if (events.length > 0) listener.events(events);
        // The server left something out, because it was deleted or this page was too slow.
        const isGap = sent.some(({ event }) => event === "gap");
        if (isGap && ports.now() - freshAt > FRESH_EVERY_MS) beFresh();
        if (sent.some(({ event, data }) => event === "end" && data.includes('"unauthorized"'))) return "refused";
      }
    } finally {
      watch.abort();
      await reader.cancel().catch(() => undefined);
    }
  };

  listener.state("connecting");
  while (!signal.aborted) {
    const ended = await readOnce().catch(() => "away" as const);
    if (signal.aborted) return;
    listener.state(ended);
    if (ended !== "away") return;
    await ports.sleep(pause, signal).catch(() => undefined);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
};
