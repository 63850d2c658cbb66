// A tool host from its first line to its last: reader, dispatcher and writer connected, and an end that is always reached.
// SH1. When the parent stops writing, or asks for the end, running requests may finish within a time limit; the others are
//     answered as canceled. Then all answers are written, within a time limit of their own.
// SH2. While the parent does not read, the host does not read either: waiting answers are bounded by the requests in flight.
// SH3. When the parent cannot read answers any more, the host ends at once.

import type { Readable, Writable } from "node:stream";
import { createLineSplitter } from "../lines/line-splitter.ts";
import { type Clock, inTime } from "../ports/clock.ts";
import { createDispatcher, MAX_LINE_BYTES } from "./dispatcher.ts";
import { createLineWriter } from "./line-writer.ts";
import type { HostPlugin } from "./plugin.ts";
import { createRunScope } from "./run-scope.ts";

/** Long enough for most tools to finish, short enough that a parent that waits for the exit does not give up. */
export const DEFAULT_DRAIN_MS = 10_000;
/** A parent that still wants the answers reads them at once. */
const FLUSH_MS = 5_000;
/** With this much waiting no further requests are read. */
const PAUSE_CHARS = 16 * 1024 * 1024;

export interface HostOptions {
  readonly plugin: HostPlugin;
  readonly input: Readable;
  readonly output: Writable;
  readonly stderr: (text: string) => void;
  readonly clock: Clock;
  readonly drainMs?: number | undefined;
}

export interface Host {
  /** Resolves when the host has nothing more to do. */
  readonly done: Promise<void>;
  /** An error that reached the top of the process. */
  takeUncaught(error: unknown): void;
}

const showUncaught = (error: unknown): string =>
  `toolplane error: plugin code let an error fall: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;

export const serveHost = ({ plugin, input, output, stderr, clock, drainMs = DEFAULT_DRAIN_MS }: HostOptions): Host => {
  const writer = createLineWriter(output);
  const scope = createRunScope();
  const ending = Promise.withResolvers<void>();
  const cut = Promise.withResolvers<void>();
  let ended: Promise<void> | undefined;

  const end = async (): Promise<void> => {
    await inTime(clock, drainMs, Promise.race([dispatcher.drain(), cut.promise]));
    dispatcher.giveUp();
  };
  const endOnce = (): Promise<void> => {
    ended ??= end();
    ending.resolve();
    return ended;
  };

  const dispatcher = createDispatcher({ plugin, writer, stderr, scope, now: clock.now, onShutdown: endOnce });
  const reader = createLineSplitter(MAX_LINE_BYTES, {
    line: (text, _bytes, valid) => (valid ? dispatcher.takeLine(text) : dispatcher.takeFault("not_utf8")),
    tooLong: () => dispatcher.takeFault("too_long"),
    tooLongEnded: () => undefined,
  });

  input.on("data", (chunk: Buffer) => {
    writer.expectAnswers();
    scope.around(() => reader.push(chunk));
    if (writer.waiting() < PAUSE_CHARS) return;
    input.pause();
    void writer.below(PAUSE_CHARS / 2).then(() => input.resume());
  });
  const inputOver = (): void => {
    scope.around(() => reader.end());
    void endOnce();
  };
  input.once("end", inputOver);
  input.once("error", inputOver);
  input.once("close", inputOver);
  const outputOver = (): void => {
    cut.resolve();
    void endOnce();
  };
  output.once("error", outputOver);
  output.once("close", outputOver);

  const untilDone = async (): Promise<void> => {
    await ending.promise;
    await ended;
    await inTime(clock, FLUSH_MS, writer.below(1));
    input.destroy();
  };

  return {
    done: untilDone(),
    takeUncaught(error) {
      const run = scope.current();
      stderr(showUncaught(error));
      if (run !== undefined) dispatcher.crash(run, error);
    },
  };
};
