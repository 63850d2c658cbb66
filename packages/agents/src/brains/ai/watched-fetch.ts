// What a brain adds to the way out: every sign of life is told, so that silence can be noticed, a web page is no answer, and
// neither is one that would take long to read.
// Which addresses may be asked, and how large an answer may be, the egress guard decides below it.

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

/** A site's own page, where an API was meant: read as an answer it would only seem to break off. */
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
