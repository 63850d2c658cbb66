// Server-sent events: every evt.* of a project from the log, where Last-Event-ID goes on where a reader was, and every
// str.* as it passes; of both, what the caller may see.
//   A reader that is slow loses stream items, never events: those are read at its own pace, a bounded page at a time. One
//   that takes nothing for a while is told so and let go; it comes back with Last-Event-ID.

import { type Engine, systemClock } from "@toolplane/engine";
import { PROTOCOL_VERSION, parseToken, ToolplaneError, tryParseJsonStrict } from "@toolplane/protocol";
import { streamSSE } from "hono/streaming";
import { refuseUnknownProject } from "../http/known-project.ts";
import { ownEvents } from "../http/own-events.ts";
import { endStream, writeWithin } from "../http/readers.ts";
import { READERS, type Route, route } from "../http/route.ts";
import { createWaitingItems, type StreamItem } from "../http/waiting-items.ts";

/** Proxies close silent connections; a comment keeps them open. */
const KEEP_ALIVE_MS = 15_000;

interface Wake {
  readonly ring: () => void;
  readonly wait: (ms: number) => Promise<void>;
}

const createWake = (): Wake => {
  let rung = false;
  let resolve: (() => void) | undefined;
  return {
    ring: () => {
      rung = true;
      resolve?.();
    },
    wait: (ms) =>
      new Promise((done) => {
        const finish = (): void => {
          clearTimeout(timer);
          resolve = undefined;
          rung = false;
          done();
        };
        const timer = setTimeout(finish, ms);
        resolve = finish;
        if (rung) finish();
      }),
  };
};

const subscribe = (engine: Engine, projectId: string, heard: (item: StreamItem) => void): Promise<() => void> =>
  engine.bus.subscribeStream(`cg.${PROTOCOL_VERSION}.${parseToken(projectId, "project")}.*.str.*.*.>`, heard);

interface Shown {
  readonly subject: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly payload: unknown;
  /** Where the log goes on; a stream item has none. */
  readonly position?: string;
}

/** On NATS anybody with the right publishes stream items; one that cannot be read is dropped, as any may be. */
const readItems = (items: readonly StreamItem[]): readonly Shown[] =>
  items.flatMap(({ subject, payload }) => {
    const value = tryParseJsonStrict(payload);
    return value === undefined ? [] : [{ subject, payload: value }];
  });

const textOf = ({ subject, payload, position }: Shown): string => {
  const data = `data: ${JSON.stringify({ subject, payload })}\n`;
  return position === undefined ? `event: str\n${data}\n` : `event: evt\n${data}id: ${position}\n\n`;
};

const tooSlow = (ms: number): ToolplaneError =>
  new ToolplaneError(
    "rate_limited",
    `this reader took nothing for ${ms / 1_000} seconds; connect again with Last-Event-ID and read faster`,
  );

const ended = (): ToolplaneError =>
  new ToolplaneError("unauthorized", "the token of this stream was revoked or has expired; connect with another");

export const eventRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/events",
    roles: READERS,
    gives: "own",
    handle: async ({ engine, params, caller, own, readers, context, signal }) => {
      const projectId = params.project ?? "";
      await refuseUnknownProject(engine, projectId);
      let position = context.req.header("last-event-id") ?? (await engine.events.now());
      // An id that is not one of ours is refused before the stream begins.
      await engine.events.read(projectId, position, 1);
      // A HEAD request gets the headers only; no stream is opened for it.
      if (context.req.method === "HEAD") return context.body(null, 200, { "Content-Type": "text/event-stream" });
      const wake = createWake();
      const items = createWaitingItems();
      const place = readers.open(caller.token.tokenId);
      const stopStream = await subscribe(engine, projectId, (item) => {
        items.push(item);
        wake.ring();
      }).catch((error: unknown) => {
        place[Symbol.dispose]();
        throw error;
      });
      const stopBell = engine.doorbell.listen("messages", wake.ring);
      // The request is answered when the stream begins; the token is watched for as long as it lasts.
      const watch = engine.tokens.watch(caller.token);
      for (const end of [signal, watch.ended]) end.addEventListener("abort", wake.ring, { once: true });
      return streamSSE(context, async (stream) => {
        stream.onAbort(wake.ring);
        const { slowMs, cutMs } = readers.limits;
        const isOver = (): boolean => signal.aborted || watch.ended.aborted || stream.aborted;
        let sentAt = systemClock.now();
        const send = (text: string): Promise<boolean> => {
          sentAt = systemClock.now();
          return writeWithin(stream, text, slowMs);
        };
        try {
          let isTaken = await send(": connected\n\n");
          while (isTaken && !isOver()) {
            const events = await engine.events.read(projectId, position);
            position = events.at(-1)?.position ?? position;
            const logged = events.map((event) => ({ ...event, payload: JSON.parse(event.payload) as unknown }));
            const shown = await ownEvents<Shown>(own, [...logged, ...readItems(items.takeAll())]);
            if (isOver()) break;
            if (shown.length > 0) isTaken = await send(shown.map(textOf).join(""));
            if (!isTaken || events.length > 0) continue;
            await wake.wait(Math.max(sentAt + KEEP_ALIVE_MS - systemClock.now(), 0));
            // The bell also rings for what this reader is not shown: that is no reason to write.
            const isQuiet = items.isEmpty() && systemClock.now() >= sentAt + KEEP_ALIVE_MS;
            if (isQuiet && !isOver()) isTaken = await send(": still here\n\n");
          }
          if (watch.ended.aborted) endStream(context, stream, ended(), cutMs);
          else if (!isTaken && !isOver()) endStream(context, stream, tooSlow(slowMs), cutMs);
        } finally {
          place[Symbol.dispose]();
          watch[Symbol.dispose]();
          stopStream();
          stopBell();
        }
      });
    },
  }),
];
