// Server-sent events: every evt.* of a project from the log (Last-Event-ID continues where a reader was), and every str.* as it
// passes; of both, only what the caller may see.
//   A slow reader loses stream items, never events: events are read at its own pace, a bounded page at a time. A reader that
//   takes nothing for a while is told so and disconnected; it comes back with Last-Event-ID. Missing events are reported as `gap`.

import { systemClock } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { eventQuery, filterOf } from "../events/event-filter.ts";
import { type FeedEvent, type FeedGap, openFeed, startOf } from "../events/feed.ts";
import { watchCaller } from "../http/authenticate.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { endStream, writeWithin } from "../http/readers.ts";
import { FOR_EVER, READERS, type Route, route } from "../http/route.ts";

/** Proxies close silent connections; a comment keeps them open. */
const KEEP_ALIVE_MS = 15_000;

/** Readers that share a read share the bytes of its events. */
const written = new WeakMap<FeedEvent, Buffer>();

const bytesOf = (event: FeedEvent): Buffer => {
  const known = written.get(event);
  if (known !== undefined) return known;
  const { subject, payload, position } = event;
  const data = `data: ${JSON.stringify({ subject, payload })}\n`;
  const text = position === undefined ? `event: str\n${data}\n` : `event: evt\n${data}id: ${position}\n\n`;
  const bytes = Buffer.from(text);
  written.set(event, bytes);
  return bytes;
};

const gapText = (gap: FeedGap): string => `event: gap\ndata: ${JSON.stringify(gap)}\n\n`;

const tooSlow = (ms: number): ToolplaneError =>
  new ToolplaneError(
    "rate_limited",
    `this reader took nothing for ${ms / 1_000} seconds; connect again with Last-Event-ID and read faster`,
  );

const ended = (): ToolplaneError =>
  new ToolplaneError(
    "unauthorized",
    "the token or the session of this stream was revoked or has expired; connect with another",
  );

export const eventRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/events",
    roles: READERS,
    gives: "own",
    summary: "Server-sent events: what happens in the project, as it happens.",
    headers: { "Last-Event-ID": "Continues after this event." },
    answers: {
      200: {
        "text/event-stream": z.string().meta({ description: "`evt` with an id, `str` without, `gap`, `end` at last." }),
      },
    },
    query: eventQuery,
    handle: async ({ engine, params, query, caller, own, readers, context, signalFor }) => {
      // Asked for first: it may refuse, and then nothing is held.
      const signal = signalFor(FOR_EVER);
      const filter = filterOf(query);
      const projectId = params.project ?? "";
      await refuseUnknownProject(engine, projectId);
      const asked = { engine, projectId, after: context.req.header("last-event-id") };
      // A HEAD request gets the headers only; no stream is opened for it.
      if (context.req.method === "HEAD") {
        await startOf(asked);
        return context.body(null, 200, { "Content-Type": "text/event-stream" });
      }
      const place = readers.open(caller.token.tokenId);
      const feed = await openFeed({ ...asked, own, filter }).catch((error: unknown) => {
        place[Symbol.dispose]();
        throw error;
      });
      // The request counts as answered when the stream begins, but its token is watched until the stream ends.
      const watch = watchCaller(engine, caller);
      for (const end of [signal, watch.ended]) end.addEventListener("abort", feed.ring, { once: true });
      return streamSSE(context, async (stream) => {
        stream.onAbort(feed.ring);
        const { slowMs, cutMs } = readers.limits;
        const isOver = (): boolean => signal.aborted || watch.ended.aborted || stream.aborted;
        let sentAt = systemClock.now();
        const send = (said: string | Uint8Array): Promise<boolean> => {
          sentAt = systemClock.now();
          return writeWithin(stream, said, slowMs);
        };
        try {
          // The id says how far the log has come: a reader that is cut off before its first event continues from here.
          let isTaken = await send(`: connected\nid: ${feed.position()}\n\n`);
          while (isTaken && !isOver()) {
            const { events, isMore, gap } = await feed.next();
            if (isOver()) break;
            const told = gap === undefined ? [] : [Buffer.from(gapText(gap))];
            const page = [...told, ...events.map(bytesOf)];
            if (page.length > 0) isTaken = await send(Buffer.concat(page));
            if (!isTaken || isMore) continue;
            await feed.wait(Math.max(sentAt + KEEP_ALIVE_MS - systemClock.now(), 0));
            // The bell also rings for events that this reader is not shown: then nothing is written but, in time, where the log stands.
            const isQuiet = feed.isQuiet() && systemClock.now() >= sentAt + KEEP_ALIVE_MS;
            if (isQuiet && !isOver()) isTaken = await send(`: still here\nid: ${feed.position()}\n\n`);
          }
          if (watch.ended.aborted) endStream(context, stream, ended(), cutMs);
          else if (!isTaken && !isOver()) endStream(context, stream, tooSlow(slowMs), cutMs);
        } finally {
          place[Symbol.dispose]();
          watch[Symbol.dispose]();
          feed[Symbol.dispose]();
        }
      });
    },
  }),
];
