// Lines to the parent. What is written during one turn of the event loop leaves in one piece, because a system call per line
// costs more than everything else a small answer costs.
// HW1. While the parent does not read, nothing is handed to the stream: waiting lines stay here, where they can be overtaken.
// HW2. Lines of one request keep their order. An answer is its request's last line, so a long answer may be overtaken by
//     the short lines of others: they wait for the one long line that is on its way, never for all of them.
// HW3. Long answers are not starved: after each batch of short lines one long line goes.

import type { Writable } from "node:stream";

/** From here on an answer takes longer to leave than a turn of the loop, and others should not wait behind several. */
const LONG_LINE = 256 * 1024;

/** Below what a pipe takes at once and what makes the allocator ask the system for memory: 10 kB answers cost a fifth less. */
const PIECE = 48 * 1024;

export interface LineWriter {
  /**
   * Requests are being read: the next lines are written after the promises of this moment, because most answers that need no
   * waiting are ready by then. Writing at the end of the turn instead would cost another system call.
   */
  expectAnswers(): void;
  write(line: string): void;
  /** The last line of its request. */
  writeAnswer(line: string): void;
  /** Characters that have not left yet. */
  waiting(): number;
  /** Resolves when less than this waits, or when the parent cannot read any more. */
  below(limit: number): Promise<void>;
}

interface Waiter {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

export const createLineWriter = (output: Writable): LineWriter => {
  let short: string[] = [];
  const long: string[] = [];
  /** Keyed by limit: a tool that floods asks as often as it emits, and all its questions wait for the same moment. */
  const waiters = new Map<number, Waiter>();
  let waitingChars = 0;
  /** Handed to the stream, not yet confirmed by it. */
  let leavingChars = 0;
  let scheduled = false;
  let answersExpected = false;
  let broken = false;

  const release = (): void => {
    for (const [limit, waiter] of waiters) {
      if (!broken && waitingChars + leavingChars >= limit) continue;
      waiters.delete(limit);
      waiter.resolve();
    }
  };

  const hand = (text: string): void => {
    waitingChars -= text.length;
    leavingChars += text.length;
    output.write(text, () => {
      leavingChars -= text.length;
      if (waiters.size > 0) release();
      if (waitingChars > 0) schedule();
    });
  };

  /** Hands over short lines in pieces of a size that the system takes at once, until it does not. */
  const flushShort = (): void => {
    let first = 0;
    while (first < short.length && !output.writableNeedDrain) {
      let piece = "";
      while (first < short.length && (piece === "" || piece.length + (short[first] as string).length <= PIECE)) {
        piece += short[first] as string;
        first += 1;
      }
      hand(piece);
    }
    short = first === short.length ? [] : short.slice(first);
  };

  const flush = (): void => {
    scheduled = false;
    answersExpected = false;
    if (broken) return;
    flushShort();
    if (output.writableNeedDrain) return;
    const next = long.shift();
    if (next !== undefined) hand(next);
  };

  const schedule = (): void => {
    if (scheduled || broken) return;
    scheduled = true;
    if (answersExpected) process.nextTick(flush);
    else setImmediate(flush);
  };

  const breakOff = (): void => {
    broken = true;
    short = [];
    long.length = 0;
    release();
  };
  output.on("drain", schedule);
  output.on("error", breakOff);
  output.on("close", breakOff);

  const add = (lane: string[], line: string): void => {
    if (broken) return;
    lane.push(line);
    waitingChars += line.length;
    // A full piece need not wait for the end of the turn: the parent can begin to read.
    if (lane === short && waitingChars >= PIECE) flushShort();
    schedule();
  };

  return {
    expectAnswers() {
      answersExpected = true;
    },
    write: (line) => add(short, line),
    writeAnswer: (line) => add(line.length < LONG_LINE ? short : long, line),
    waiting: () => waitingChars + leavingChars,
    below(limit) {
      if (broken || waitingChars + leavingChars < limit) return Promise.resolve();
      const waiter = waiters.get(limit) ?? Promise.withResolvers<void>();
      waiters.set(limit, waiter);
      return waiter.promise;
    },
  };
};
