// Answers that stream: they end with the server, and whatever they hold is given back when they end.

/** Passes a body on until it ends, its reader goes, or the signal says so; then `ended` runs, once. */
export const endWith = (response: Response, signal: AbortSignal, ended: () => void): Response => {
  if (response.body === null) {
    ended();
    return response;
  }
  const reader = response.body.getReader();
  let isOver = false;
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener("abort", stop);
    ended();
  };
  const stop = (): void => {
    void reader.cancel().catch(() => undefined);
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        finish();
        controller.close();
      } catch (error) {
        finish();
        controller.error(error);
      }
    },
    cancel(reason) {
      finish();
      return reader.cancel(reason).catch(() => undefined);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
};

export const isStream = (response: Response): boolean =>
  response.headers.get("content-type")?.startsWith("text/event-stream") === true;

export const rpcError = (
  status: number,
  code: number,
  message: string,
  { id = null, data }: { readonly id?: unknown; readonly data?: unknown } = {},
): Response =>
  Response.json({ jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } }, { status });
