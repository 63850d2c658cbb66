// A host's own output - stderr and log events - as log lines.
// LO1. Everything is bounded: a line is cut; a limited number of lines per second is passed on and the rest counted; a limited
//     number of bytes per second is read and then the host waits; only the last lines are remembered.
// LO2. Secrets are removed before anything is kept (I8).

import type { Readable } from "node:stream";
import type { HostLog } from "@toolplane/protocol/host";
import type { Log } from "@toolplane/sdk";
import { createLineSplitter } from "@toolplane/sdk/host";
import type { Border } from "./border.ts";
import type { HostLimits } from "./host-limits.ts";
import type { Timers } from "./timers.ts";

/** Longer than any sensible log line; a stack trace has many lines, not one. */
const LINE_BYTES = 8 * 1_024;
/** Enough for a person to see why a process died. */
const KEPT_LINES = 20;
const KEPT_CHARACTERS = 500;
/** What is shown of a line that is too long. */
const HEAD_CHARACTERS = 512;
const SECOND_MS = 1_000;

export interface HostLogPorts {
  readonly log: Log;
  readonly timers: Timers;
  readonly border: Border;
}

export interface HostWords {
  /** Follows the stderr of one process until it ends. */
  follow(stream: Readable, pid: number): void;
  /** A log event. */
  say(entry: HostLog, pid: number): void;
  /** What it wrote last: all of its processes, or one. */
  last(pid?: number): readonly string[];
}

export const createHostWords = (host: string, limits: HostLimits, ports: HostLogPorts): HostWords => {
  const kept: { readonly pid: number; readonly text: string }[] = [];
  let second = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let left = 0;

  const isTooMany = (): boolean => {
    const now = ports.timers.now();
    if (now - second >= SECOND_MS) {
      if (left > 0) ports.log.warn(`host ${host}: ${left} lines of its log were left out`);
      [second, lines, left] = [now, 0, 0];
    }
    lines += 1;
    if (lines <= limits.stderrLinesPerSecond) return false;
    left += 1;
    return true;
  };

  const keep = (text: string, pid: number): void => {
    kept.push({ pid, text: text.slice(0, KEPT_CHARACTERS).toWellFormed() });
    if (kept.length > KEPT_LINES) kept.shift();
  };

  const passOn = (text: string, pid: number, isHead = false): void => {
    if (isTooMany()) return;
    const line = text.endsWith("\r") ? text.slice(0, -1) : text;
    const said = (
      isHead ? `${ports.border.start(line).slice(0, HEAD_CHARACTERS)}...` : ports.border.text(line)
    ).toWellFormed();
    keep(said, pid);
    ports.log.info(`host ${host}: ${said}`, { pid });
  };

  const throttle = (stream: Readable): ((bytes: number) => void) => {
    let since = ports.timers.now();
    let read = 0;
    return (bytes) => {
      const now = ports.timers.now();
      if (now - since >= SECOND_MS) [since, read] = [now, 0];
      read += bytes;
      if (read < limits.stderrBytesPerSecond || stream.isPaused()) return;
      stream.pause();
      ports.timers.afterQuietly(SECOND_MS - (now - since), () => stream.resume());
    };
  };

  return {
    follow: (stream, pid) => {
      const splitter = createLineSplitter(LINE_BYTES, {
        line: (text) => {
          if (text !== "") passOn(text, pid);
        },
        tooLong: (head) => passOn(head, pid, true),
        tooLongEnded: () => undefined,
      });
      const count = throttle(stream);
      stream.on("data", (chunk: Buffer) => {
        splitter.push(chunk);
        count(chunk.length);
      });
      stream.once("end", () => splitter.end());
      // A broken pipe ends it as well.
      stream.on("error", () => undefined);
    },
    say: (entry, pid) => {
      if (isTooMany()) return;
      const message = shorten(entry.message, ports.border);
      keep(message, pid);
      const level = entry.level === "debug" ? "info" : entry.level;
      ports.log[level](`host ${host}: ${message}`, {
        pid,
        hostLevel: entry.level,
        ...scrubFields(entry, ports.border),
      });
    },
    last: (pid) => kept.filter((line) => pid === undefined || line.pid === pid).map(({ text }) => text),
  };
};

/** Scrubbed before it is cut: half a secret is still secret. */
const shorten = (text: string, border: Border): string => {
  const most = 2 * LINE_BYTES;
  const clean = text.length > most ? border.start(text.slice(0, most)) : border.text(text);
  return clean.slice(0, LINE_BYTES).toWellFormed();
};

const scrubFields = (entry: HostLog, border: Border): { readonly fields?: string } => {
  if (Object.keys(entry.fields).length === 0) return {};
  return { fields: shorten(JSON.stringify(entry.fields), border) };
};
