// Why a run ended before its tool did. The first cause counts: the tool's signal is aborted with an error that names it.

import { ToolplaneError } from "@toolplane/protocol";

/**
 * `lost`: the plane says the lease is gone. `expired`: the plane could not be reached while the lease lasted. `shutdown`: the
 * service must stop and cannot wait any longer. `crashed`: an error that no code caught ends the process.
 */
export type EndCause = "deadline" | "canceled" | "lost" | "expired" | "shutdown" | "crashed";

const REASONS: Readonly<Record<EndCause, () => ToolplaneError>> = {
  deadline: () => new ToolplaneError("tool_timeout", "the tool did not finish before its deadline"),
  canceled: () => new ToolplaneError("canceled", "the call is over: it was canceled, stopped or timed out"),
  lost: () => new ToolplaneError("lease_lost", "the lease on this call is gone"),
  expired: () => new ToolplaneError("lease_lost", "the lease on this call ran out and could not be renewed"),
  shutdown: () => new ToolplaneError("canceled", "the service is stopping"),
  crashed: () => new ToolplaneError("canceled", "the service has failed and ends"),
};

export interface RunSignal {
  /** The signal that the tool gets. */
  readonly signal: AbortSignal;
  /** Aborted when the plane says that the result is not wanted any more, even after the tool was stopped for another reason. */
  readonly unwanted: AbortSignal;
  cause(): EndCause | undefined;
  end(cause: EndCause): void;
}

export const createRunSignal = (): RunSignal => {
  const controller = new AbortController();
  const unwanted = new AbortController();
  let first: EndCause | undefined;
  return {
    signal: controller.signal,
    unwanted: unwanted.signal,
    cause: () => first,
    end(cause) {
      if (cause === "canceled" || cause === "lost") unwanted.abort(REASONS[cause]());
      if (first !== undefined) return;
      first = cause;
      controller.abort(REASONS[cause]());
    },
  };
};

/** Resolves when the signal aborts; `stop` removes the listener, so that a long-lived signal does not collect listeners. */
export const onAbort = (signal: AbortSignal): { readonly aborted: Promise<void>; readonly stop: () => void } => {
  let listener = (): void => {};
  const aborted = new Promise<void>((resolve) => {
    listener = () => resolve();
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", listener, { once: true });
  });
  return { aborted, stop: () => signal.removeEventListener("abort", listener) };
};

/** The work's outcome, or a rejection with the signal's reason when that comes first; the work's late outcome is dropped. */
export const raceAbort = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { aborted, stop } = onAbort(signal);
  try {
    const refused = aborted.then((): never => {
      throw signal.reason;
    });
    return await Promise.race([work, refused]);
  } finally {
    stop();
  }
};
