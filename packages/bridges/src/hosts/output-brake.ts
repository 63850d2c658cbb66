// A host that floods stdout with text that is not a message is read slowly, because this process has other hosts and other work.
// OB1. Reading useless lines may take a limited part of each second; then its pipe is not read until the second is over, and the
//     host waits in its write. A tool that prints a lot by mistake is not slowed down, because refusing a line is quick.
// OB2. During a flood small pieces are read, so that it can be stopped soon and not only after a whole pipe was read.
// OB3. Once the host has ended, the rest of its output is read at once: an answer may come after the flood.
// OB4. While a long line is read in steps, the pipe is not read either, so that little waits behind the line.

import type { Readable } from "node:stream";
import type { Timers } from "./timers.ts";

export interface BrakeOptions {
  readonly stream: Pick<Readable, "pause" | "resume" | "unshift">;
  readonly timers: Timers;
  readonly take: (chunk: Buffer) => void;
  /** Useless lines so far. */
  readonly wasted: () => number;
}

export interface OutputBrake {
  push(chunk: Buffer): void;
  /** Nothing is read until it is let go: a long line is still being worked on (OB4). */
  hold(): void;
  letGo(): void;
  /** The process is gone: nothing is held back any more. */
  release(): void;
}

/** Short enough that others hardly notice, long enough for a few hundred thousand lines. */
const SPENT_MS_PER_SECOND = 200;
const SECOND_MS = 1_000;
/** A few hundred of the shortest lines. */
const PIECE_BYTES = 1_024;

export const createOutputBrake = ({ stream, timers, take, wasted }: BrakeOptions): OutputBrake => {
  let since = timers.now();
  /** Milliseconds of this second that went into chunks with useless lines. */
  let spentMs = 0;
  let flooding = false;
  let released = false;
  let held = false;
  let stopped = false;
  const readOn = (): void => {
    if (released || (!held && !stopped)) stream.resume();
  };

  const takeTimed = (chunk: Buffer): void => {
    const [began, before] = [timers.now(), wasted()];
    take(chunk);
    const now = timers.now();
    if (now - since >= SECOND_MS) {
      flooding &&= spentMs >= SPENT_MS_PER_SECOND;
      [since, spentMs] = [now, 0];
    }
    if (wasted() > before) spentMs += now - began;
  };

  const stop = (rest: Buffer): void => {
    flooding = true;
    stopped = true;
    stream.pause();
    if (rest.length > 0) stream.unshift(rest);
    timers.afterQuietly(Math.max(1, Math.ceil(since + SECOND_MS - timers.now())), () => {
      stopped = false;
      readOn();
    });
  };

  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length) {
        const end = flooding && !released ? Math.min(at + PIECE_BYTES, chunk.length) : chunk.length;
        takeTimed(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
        at = end;
        if (released || spentMs < SPENT_MS_PER_SECOND) continue;
        stop(chunk.subarray(at));
        return;
      }
    },
    hold() {
      held = true;
      if (!released) stream.pause();
    },
    letGo() {
      held = false;
      readOn();
    },
    release() {
      released = true;
      readOn();
    },
  };
};
