// What a brain adds to the way out: it notes every sign of life, so that silence can be noticed; and it refuses a web page and an
// answer that would take long to read. The egress guard below it decides which addresses may be reached and how large an answer
// may be.

import { ToolplaneError } from "@toolplane/protocol";
import { createAnswerWeight, type WeighAnswer } from "./answer-weight.ts";

export interface WatchedFetchOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly onLife: () => void;
}

const watchBody = (
  body: ReadableStream<Uint8Array>,
  onLife: () => void,
  weigh: WeighAnswer,
): ReadableStream<Uint8Array> =>
  body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onLife();
        weigh(chunk);
        controller.enqueue(chunk);
      },
    }),
  );

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
