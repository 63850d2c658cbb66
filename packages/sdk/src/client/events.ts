// The events of a project, without a gap: after a lost connection, reading continues after the last event that was seen. Events
// of the log (`evt`) are neither missed nor given twice; stream items (`str`) are not stored and may be missed.

import { type Backoff, backoff, isRecord, ToolplaneError } from "@toolplane/protocol";
import { checkGiven } from "./given-options.ts";
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
  /** The first connection is tried until then; later ones without end. */
  readonly openUntilMs?: number | undefined;
}

/** A pause before the next connection, so that a server that closes each one at once is not asked in a tight loop. */
const PAUSE_MS: Backoff = { first: 100, longest: 3_200 };
/** A Toolplane server sends its position in the log at once. When so many connections in a row end before that, no Toolplane server has this address. */
const MAX_SILENT = 10;

const neverSpoke = (place: string): ToolplaneError =>
  new ToolplaneError(
    "upstream_unavailable",
    `${place} closed ${MAX_SILENT} connections for events in a row without sending anything`,
  );

const parseEvent = ({ id, event, data }: RawEvent): PlaneEvent | undefined => {
  if (event !== "evt" && event !== "str") return undefined;
  const body = JSON.parse(data) as unknown;
  if (!isRecord(body) || typeof body.subject !== "string") return undefined;
  return { id, kind: event, subject: body.subject, payload: body.payload };
};

/** Like `followEvents`, but gives events that arrived together as one page. */
export async function* followPages(
  { way, clock, insist }: Means,
  { after, signal, opened, openUntilMs = Number.POSITIVE_INFINITY }: FollowOptions,
): AsyncGenerator<readonly PlaneEvent[]> {
  const left = new AbortController();
  const over = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  let last = after;
  let untilMs = openUntilMs;
  try {
    for (let silent = 1; !over.aborted; silent += 1) {
      const from = last;
      const pages = await insist(untilMs, over, () => way.openEvents(from, over));
      untilMs = Number.POSITIVE_INFINITY;
      opened?.();
      try {
        for await (const page of pages) {
          silent = 0;
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
      if (silent >= MAX_SILENT) throw neverSpoke(way.place);
      await clock.sleep(backoff(PAUSE_MS, silent + 1), over);
    }
  } finally {
    left.abort();
  }
}

export async function* followEvents(
  means: Means,
  options: Pick<FollowOptions, "after" | "signal">,
): AsyncGenerator<PlaneEvent> {
  checkGiven("events", options);
  // When the reader aborted, it wants neither events nor an error.
  const isLeft = (): boolean => options.signal?.aborted === true;
  try {
    for await (const page of followPages(means, options))
      for (const event of page) {
        if (isLeft()) return;
        yield event;
      }
  } catch (error) {
    if (!isLeft()) throw error;
  }
}
