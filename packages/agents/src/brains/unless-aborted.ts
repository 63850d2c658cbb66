// BR1: a brain that is stopped rejects at once, whether what it waits for listens or not.

import { ToolplaneError } from "@toolplane/protocol";

export const canceled = (): ToolplaneError => new ToolplaneError("canceled", "the step was stopped");

/** The work, or `canceled` as soon as the signal aborts; work that does not listen is left behind. */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(canceled());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
