// The parts of a call's result as server-sent events, while they are made. None is stored (calls/watch-parts.ts).

import { systemClock } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { watchParts } from "../calls/watch-parts.ts";
import { watchCaller } from "../http/authenticate.ts";
import { endStream, writeWithin } from "../http/readers.ts";
import { FOR_EVER, READERS, type Route, route } from "../http/route.ts";

const KEEP_ALIVE_MS = 15_000;

const eventText = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

const dropped = (count: number) => ({
  message: `${count} parts were dropped: this reader was slower than they came`,
  todo: "read the result of the call when it has ended",
});

const ended = (): ToolplaneError =>
  new ToolplaneError("unauthorized", "the token of this stream was revoked or has expired; connect with another");

const tooSlow = (ms: number): ToolplaneError =>
  new ToolplaneError("rate_limited", `this reader took nothing for ${ms / 1_000} seconds; read faster`);

export const partRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/calls/:call/parts",
    roles: READERS,
    gives: "call",
    summary: "Server-sent events: parts of the result while they are made, then how the call ended. No part is stored.",
    answers: {
      200: {
        "text/event-stream": z.string().meta({ description: "`part`, `gap`, and `end` with the call's status." }),
      },
    },
    handle: async ({ engine, params, caller, readers, context, signalFor }) => {
      // Asked for first: it may refuse, and then nothing is held.
      const signal = signalFor(FOR_EVER);
      const key = { projectId: params.project ?? "", toolCallId: params.call ?? "" };
      await engine.calls.get(key);
      if (context.req.method === "HEAD") return context.body(null, 200, { "Content-Type": "text/event-stream" });
      const place = readers.open(caller.token.tokenId);
      const watch = watchCaller(engine, caller);
      const gone = new AbortController();
      const over = AbortSignal.any([signal, watch.ended, gone.signal]);
      const parts = await watchParts(engine, key, over).catch((error: unknown) => {
        place[Symbol.dispose]();
        watch[Symbol.dispose]();
        throw error;
      });
      over.addEventListener("abort", parts.ring, { once: true });
      return streamSSE(context, async (stream) => {
        stream.onAbort(() => gone.abort());
        const { slowMs, cutMs } = readers.limits;
        let sentAt = systemClock.now();
        const send = (text: string): Promise<boolean> => {
          sentAt = systemClock.now();
          return writeWithin(stream, text, slowMs);
        };
        try {
          let isTaken = await send(": connected\n\n");
          while (isTaken && !over.aborted) {
            await parts.turn();
            const status = parts.status();
            const lost = parts.takeDropped();
            const told = lost === 0 ? "" : eventText("gap", dropped(lost));
            const shown = parts.takeAll();
            if (told !== "" || shown.length > 0) isTaken = await send(told + shown.join(""));
            if (status !== undefined) {
              await send(eventText("end", { tool_call_id: key.toolCallId, status }));
              break;
            }
            await parts.wait(Math.max(sentAt + KEEP_ALIVE_MS - systemClock.now(), 0));
            if (systemClock.now() >= sentAt + KEEP_ALIVE_MS && !over.aborted) isTaken = await send(": still here\n\n");
          }
          if (watch.ended.aborted) endStream(context, stream, ended(), cutMs);
          else if (!isTaken && !over.aborted) endStream(context, stream, tooSlow(slowMs), cutMs);
        } finally {
          gone.abort();
          place[Symbol.dispose]();
          watch[Symbol.dispose]();
          parts[Symbol.dispose]();
        }
      });
    },
  }),
];
