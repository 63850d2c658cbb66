// What happens in a project, without a gap: a connection that is lost is taken up after the last event that was seen. Events
// of the log (`evt`) are neither missed nor given twice; what merely streams by (`str`) may be missed.

import { isRecord } from "@toolplane/protocol";
import type { Means } from "./means.ts";
import type { RawEvent } from "./way.ts";

export interface PlaneEvent {
  /** Where to go on after this one; what merely streams by has none. */
  readonly id: string | undefined;
  readonly kind: "evt" | "str";
  readonly subject: string;
  readonly payload: unknown;
}

export interface FollowOptions {
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when a connection stands: what happens from then on is heard. */
  readonly opened?: (() => void) | undefined;
}

/** Before the next connection, so that a server that ends each one at once is not asked in a loop. */
const PAUSE_MS = 100;

const parseEvent = ({ id, event, data }: RawEvent): PlaneEvent | undefined => {
  if (event !== "evt" && event !== "str") return undefined;
  const body = JSON.parse(data) as unknown;
  if (!isRecord(body) || typeof body.subject !== "string") return undefined;
  return { id, kind: event, subject: body.subject, payload: body.payload };
};

/** The same, with what came together given together. */
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
          // After they were given: what was not taken is given again.
          last = page.findLast(({ id }) => id !== undefined)?.id ?? last;
        }
      } catch (error) {
        // A connection that breaks is taken up again; what the reader itself throws does not come here.
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
    // A reader that aborts wants no more events, and no error either.
    if (options.signal?.aborted !== true) throw error;
  }
}
