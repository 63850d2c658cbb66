// The one way a brain reaches a network. Redirects are not followed (a header with a key would follow them), an answer has
// a largest size, and every sign of life is told, so that silence can be noticed.

import { ToolplaneError } from "@toolplane/protocol";

export interface GuardedFetchOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly onLife: () => void;
}

/** No answer of a model comes near it; an endless one would fill the memory. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const watchBody = (body: ReadableStream<Uint8Array>, onLife: () => void): ReadableStream<Uint8Array> => {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onLife();
        bytes += chunk.byteLength;
        if (bytes > MAX_ANSWER_BYTES) {
          controller.error(new ToolplaneError("result_too_large", "the model endpoint's answer is too large"));
        } else controller.enqueue(chunk);
      },
    }),
  );
};

/** A site's own page, where an API was meant: read as an answer it would only seem to break off. */
const isPage = ({ ok, headers }: Response): boolean =>
  ok && (headers.get("content-type") ?? "").toLowerCase().startsWith("text/html");

export const createGuardedFetch =
  ({ fetch, onLife }: GuardedFetchOptions): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    onLife();
    if (isPage(response)) {
      await response.body?.cancel();
      throw new ToolplaneError("not_found", "the model endpoint answered with a web page; check llm_config.api_base");
    }
    if (response.body === null) return response;
    return new Response(watchBody(response.body, onLife), response);
  };
