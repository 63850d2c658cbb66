// A host that floods stdout with what is no message is read slowly: this process has other hosts, and other work.
// B1. So many useless lines per second, then its pipe is left alone until the second is over; the host waits in its write.
// B2. While it floods it is read in small pieces: how much is done at once is bounded by lines, not by what a pipe holds.
// B3. Once it has ended, what is left of its words is read at once: there may be an answer behind the flood.

import type { Readable } from "node:stream";
import type { Timers } from "./timers.ts";

export interface BrakeOptions {
  readonly stream: Pick<Readable, "pause" | "resume" | "unshift">;
  readonly timers: Timers;
  readonly take: (chunk: Buffer) => void;
  /** Lines so far that were of no use to anybody. */
  readonly wasted: () => number;
}

export interface OutputBrake {
  push(chunk: Buffer): void;
  /** The process is gone: nothing is held back any more. */
  release(): void;
}

/** A tool that prints a log by mistake writes less; reading so many costs a few hundredths of a second. */
const WASTED_PER_SECOND = 2_000;
const SECOND_MS = 1_000;
/** A few hundred of the shortest lines. */
const PIECE_BYTES = 1_024;

export const createOutputBrake = ({ stream, timers, take, wasted }: BrakeOptions): OutputBrake => {
  let since = timers.now();
  let before = 0;
  let flooding = false;
  let released = false;

  const isTooMuch = (): boolean => {
    const now = timers.now();
    if (now - since >= SECOND_MS) {
      flooding &&= wasted() - before >= WASTED_PER_SECOND;
      [since, before] = [now, wasted()];
    }
    return !released && wasted() - before >= WASTED_PER_SECOND;
  };

  const stop = (rest: Buffer): void => {
    flooding = true;
    stream.pause();
    if (rest.length > 0) stream.unshift(rest);
    timers.afterQuietly(Math.max(1, Math.ceil(since + SECOND_MS - timers.now())), () => stream.resume());
  };

  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length) {
        const end = flooding && !released ? Math.min(at + PIECE_BYTES, chunk.length) : chunk.length;
        take(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
        at = end;
        if (!isTooMuch()) continue;
        stop(chunk.subarray(at));
        return;
      }
    },
    release() {
      released = true;
      stream.resume();
    },
  };
};
