// One question to a brain: bounded in time, given up at once when the work is gone, heard while it speaks.

import type { Clock } from "@toolplane/engine";
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

/** A brain that does not listen to its signal is left to itself; what it says later is dropped (B1). */
export const think = async ({ brain, request, signal, clock, thinkMs }: ThinkOptions): Promise<BrainAnswer> => {
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const interrupted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.aborted ? givenUp() : tooLong(thinkMs));
    if (both.aborted) stop();
    else both.addEventListener("abort", stop, { once: true });
  });
  interrupted.catch(() => {});
  const answered = new AbortController();
  void clock.sleep(thinkMs, answered.signal).then(() => {
    if (!answered.signal.aborted) over.abort();
  });
  try {
    return await Promise.race([brain.think({ ...request, signal: both }), interrupted]);
  } finally {
    answered.abort();
  }
};
