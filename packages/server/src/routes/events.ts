// Server-sent events: every evt.* of a project from the log, where Last-Event-ID goes on where a reader was, and every
// str.* as it passes. A reader that is too slow loses stream items, never events: those are read at its own pace.

import type { Engine } from "@toolplane/engine";
import { PROTOCOL_VERSION, parseToken, tryParseJsonStrict } from "@toolplane/protocol";
import { streamSSE } from "hono/streaming";
import { refuseUnknownProject } from "../http/known-project.ts";
import { READERS, type Route, route } from "../http/route.ts";

/** Stream items kept for a slow reader; what is more is dropped, oldest first. */
const MAX_WAITING_ITEMS = 1_000;
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

interface StreamItem {
  readonly subject: string;
  readonly payload: string;
}

const subscribe = (engine: Engine, projectId: string, heard: (item: StreamItem) => void): Promise<() => void> =>
  engine.bus.subscribeStream(`cg.${PROTOCOL_VERSION}.${parseToken(projectId, "project")}.*.str.*.*.>`, heard);

const dataOf = (subject: string, payload: string): string =>
  JSON.stringify({ subject, payload: JSON.parse(payload) as unknown });

/** On NATS anybody with the right publishes stream items; one that cannot be read is dropped, as any may be. */
const tryDataOf = ({ subject, payload }: StreamItem): string | undefined => {
  const value = tryParseJsonStrict(payload);
  return value === undefined ? undefined : JSON.stringify({ subject, payload: value });
};

export const eventRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/events",
    roles: READERS,
    handle: async ({ engine, params, context, signal }) => {
      const projectId = params.project ?? "";
      await refuseUnknownProject(engine, projectId);
      let position = context.req.header("last-event-id") ?? (await engine.events.now());
      // An id that is not one of ours is refused before the stream begins.
      await engine.events.read(projectId, position, 1);
      // Who only asks whether it is there is not given a stream that nobody reads.
      if (context.req.method === "HEAD") return context.body(null, 200, { "Content-Type": "text/event-stream" });
      const wake = createWake();
      const items: StreamItem[] = [];
      const stopStream = await subscribe(engine, projectId, (item) => {
        items.push(item);
        if (items.length > MAX_WAITING_ITEMS) items.shift();
        wake.ring();
      });
      const stopBell = engine.doorbell.listen("messages", wake.ring);
      signal.addEventListener("abort", wake.ring, { once: true });
      return streamSSE(context, async (stream) => {
        stream.onAbort(wake.ring);
        try {
          await stream.write(": connected\n\n");
          while (!signal.aborted && !stream.aborted) {
            const events = await engine.events.read(projectId, position);
            for (const event of events) {
              position = event.position;
              await stream.writeSSE({ id: event.position, event: "evt", data: dataOf(event.subject, event.payload) });
            }
            for (const data of items.splice(0).map(tryDataOf))
              if (data !== undefined) await stream.writeSSE({ event: "str", data });
            if (events.length > 0) continue;
            await wake.wait(KEEP_ALIVE_MS);
            if (items.length === 0) await stream.write(": still here\n\n");
          }
        } finally {
          stopStream();
          stopBell();
        }
      });
    },
  }),
];
