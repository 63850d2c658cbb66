// The body of an answer, counted while it is unpacked, so that a small packet that grows to gigabytes is cut at the limit.
// Nothing is read ahead: the reader's pace reaches the socket.

import { type FailureContext, tooLarge, understandFailure } from "./request-failure.ts";

export const limitBody = (body: ReadableStream<Uint8Array>, context: FailureContext): ReadableStream<Uint8Array> => {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          bytes += value.byteLength;
          if (bytes <= context.limits.bodyBytes) return controller.enqueue(value);
        } catch (error) {
          return controller.error(understandFailure(error, context));
        }
        controller.error(tooLarge(context.host, context.limits));
        // This fails only when the stream was already canceled.
        await reader.cancel().catch(() => undefined);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
};
