// BR1: a brain that is stopped rejects at once, even if the thing it waits for ignores the signal.

import { ToolplaneError } from "@toolplane/protocol";

export const canceled = (): ToolplaneError => new ToolplaneError("canceled", "the step was stopped");

/** The work's outcome, or `canceled` as soon as the signal aborts; the outcome of work that ignores the signal is dropped. */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(canceled());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
