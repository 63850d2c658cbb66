// The events of a project, without a gap: after a lost connection, reading continues after the last event that was seen. Events
// of the log (`evt`) are neither missed nor given twice; stream items (`str`) are not stored and may be missed.

import { isRecord } from "@toolplane/protocol";
import type { Means } from "./means.ts";
import type { RawEvent } from "./way.ts";

export interface PlaneEvent {
  /** Pass it as `after` to continue after this event. Stream items have none. */
  readonly id: string | undefined;
  readonly kind: "evt" | "str";
  readonly subject: string;
  readonly payload: unknown;
}

export interface FollowOptions {
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when the connection is open: events from then on are heard. */
  readonly opened?: (() => void) | undefined;
}

/** A pause before the next connection, so that a server that closes each one at once is not asked in a tight loop. */
const PAUSE_MS = 100;

const parseEvent = ({ id, event, data }: RawEvent): PlaneEvent | undefined => {
  if (event !== "evt" && event !== "str") return undefined;
  const body = JSON.parse(data) as unknown;
  if (!isRecord(body) || typeof body.subject !== "string") return undefined;
  return { id, kind: event, subject: body.subject, payload: body.payload };
};

/** The same, but events that arrived together are given together. */
export async function* followPages(
  { way, clock, insist }: Means,
  { after, signal, opened }: FollowOptions,
): AsyncGenerator<readonly PlaneEvent[]> {
  const left = new AbortController();
  const over = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  let last = after;
  try {
    while (!over.aborted) {
      const from = last;
      const pages = await insist(Number.POSITIVE_INFINITY, over, () => way.openEvents(from, over));
      opened?.();
      try {
        for await (const page of pages) {
          const events = page.map(parseEvent).filter((event) => event !== undefined);
          if (events.length > 0) yield events;
          // Only after the events were given: events that the reader did not take are given again.
          last = page.findLast(({ id }) => id !== undefined)?.id ?? last;
        }
      } catch (error) {
        // A broken connection is opened again. Errors thrown by the reader itself do not come here.
        if (over.aborted) return;
        if (error instanceof SyntaxError) throw error;
      }
      await clock.sleep(PAUSE_MS, over);
    }
  } finally {
    left.abort();
  }
}

export async function* followEvents(means: Means, options: FollowOptions): AsyncGenerator<PlaneEvent> {
  try {
    for await (const page of followPages(means, options)) yield* page;
  } catch (error) {
    // When the reader aborted, it wants neither events nor an error.
    if (options.signal?.aborted !== true) throw error;
  }
}
