// One question to a brain: bounded in time, and given up at once when the work is gone.
//   The brain gets a signal that is chained by hand and unchained at the end, not one made by `AbortSignal.any`. Node keeps such
//   a signal together with its listener while a source lives and the listener is not removed (measured on Node 24: of 20,000
//   signals none was collected; with the listener removed nearly all were). Here the source lives as long as the worker, and a
//   brain is foreign code that may leave its listener. `AbortSignal.any` is right where our own code removes the listener it
//   added.

import { type Clock, WAIT_OVER } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import type { Brain, BrainAnswer, BrainRequest } from "../brains/brain.ts";

export interface ThinkOptions {
  readonly brain: Brain;
  readonly request: Omit<BrainRequest, "signal">;
  /** Aborts when the claim is gone or the worker drains. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly thinkMs: number;
}

const tooLong = (ms: number): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", `the brain did not answer within ${Math.round(ms / 1000)} seconds`);

const givenUp = (): ToolplaneError => new ToolplaneError("canceled", "the thinking was interrupted");

/** When a brain ignores its signal, the wait ends all the same and its late answer is dropped (BR1). */
export const think = async ({ brain, request, signal, clock, thinkMs }: ThinkOptions): Promise<BrainAnswer> => {
  const own = new AbortController();
  const interrupted = Promise.withResolvers<never>();
  const answered = new AbortController();
  const end = (error: ToolplaneError): void => {
    own.abort();
    interrupted.reject(error);
  };
  const gone = (): void => {
    end(givenUp());
  };
  if (signal.aborted) gone();
  signal.addEventListener("abort", gone, { once: true });
  void clock.sleep(thinkMs, answered.signal).then(() => {
    if (!answered.signal.aborted) end(tooLong(thinkMs));
  });
  try {
    return await Promise.race([interrupted.promise, brain.think({ ...request, signal: own.signal })]);
  } finally {
    signal.removeEventListener("abort", gone);
    answered.abort(WAIT_OVER);
  }
};
