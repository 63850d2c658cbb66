// What a brain adds to the way out: it notes every sign of life, so that silence can be noticed; and it refuses a web page and an
// answer that would take long to read. The egress guard below it decides which addresses may be reached and how large an answer
// may be.
//   The SDK reads all events that have arrived in one turn of the event loop. So an answer is handed to it a little at a time, and other
//   work runs in between: forty thousand small events kept the loop for seconds (SEC-10).

import { setImmediate as breathe } from "node:timers/promises";
import { ToolplaneError } from "@toolplane/protocol";
import { createAnswerWeight, type WeighAnswer } from "./answer-weight.ts";

export interface WatchedFetchOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly onLife: () => void;
}

/** Some fifty events; a few milliseconds. */
const AT_ONCE = 16 * 1024;

const watchBody = (
  body: ReadableStream<Uint8Array>,
  onLife: () => void,
  weigh: WeighAnswer,
): ReadableStream<Uint8Array> => {
  let passed = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        onLife();
        weigh(chunk);
        for (let at = 0; at < chunk.length; at += AT_ONCE) {
          const piece = chunk.subarray(at, at + AT_ONCE);
          controller.enqueue(piece);
          passed += piece.length;
          if (passed < AT_ONCE) continue;
          passed = 0;
          await breathe();
        }
      },
    }),
  );
};

/** A web page where an API was expected: read as an answer, it would only look cut off. */
const isPage = ({ ok, headers }: Response): boolean =>
  ok && (headers.get("content-type") ?? "").toLowerCase().startsWith("text/html");

export const createWatchedFetch =
  ({ fetch, onLife }: WatchedFetchOptions): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    onLife();
    if (isPage(response)) {
      await response.body?.cancel();
      throw new ToolplaneError("not_found", "the model endpoint answered with a web page; check llm_config.api_base");
    }
    if (response.body === null) return response;
    const inEvents = (response.headers.get("content-type") ?? "").toLowerCase().startsWith("text/event-stream");
    return new Response(watchBody(response.body, onLife, createAnswerWeight(inEvents)), response);
  };
