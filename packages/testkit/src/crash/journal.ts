// The journal of a crash run, outside the database: one JSON value per line, appended with O_APPEND before or after the thing it
// reports, so that it survives any death of the process. The checker compares the tables with it.
//   asked      about to ask for an item; accepted: the engine acknowledged it as this call
//   taken      a lease was acknowledged to a service; effect: the simulated tool did its work, now
//   released   about to give a lease back unstarted; reported: the engine acknowledged this result
//   spawned    the engine acknowledged an item as this turn; finished: it acknowledged the turn's end, with this deliverable
//   canceled   the engine acknowledged the cancellation; replayed: a dead letter became this call
//   published  the bus acknowledged a message; handled: a consumer (or the external bus) has it
//   died       the process is about to end itself at this fault point; stalled: to stop itself there

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

export type JournalLine =
  | { readonly what: "asked"; readonly item: string /** The id the caller chose. */; readonly call?: string }
  | {
      readonly what: "accepted";
      readonly item: string;
      readonly project: string;
      readonly call: string;
      /** How the call may end: a status, or `status/error_code`. */
      readonly outcomes: readonly string[];
    }
  | { readonly what: "taken"; readonly call: string; readonly lease: string; readonly by: string }
  | { readonly what: "effect"; readonly call: string; readonly attempt: number; readonly by: string }
  | { readonly what: "released"; readonly call: string }
  | { readonly what: "reported"; readonly call: string; readonly card: string; readonly status: string }
  | { readonly what: "canceled"; readonly call: string }
  | { readonly what: "spawned"; readonly item: string; readonly turn: string }
  | { readonly what: "finished"; readonly turn: string; readonly card: string }
  | { readonly what: "replayed"; readonly letter: string; readonly call: string }
  | { readonly what: "published"; readonly message: string }
  | { readonly what: "handled"; readonly message: string; readonly by: string; readonly subject: string }
  | { readonly what: "died" | "stalled"; readonly point: string };

export interface Journal {
  write(line: JournalLine): void;
  /** What was there when it was opened, and what this process has written since. */
  lines(): readonly JournalLine[];
  close(): void;
}

/** The complete lines of a file; a line that a death cut off counts as never written. */
export const readJournal = (path: string): readonly JournalLine[] => {
  const text = readFileSync(path, { encoding: "utf8", flag: "a+" });
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JournalLine);
};

export const openJournal = (path: string): Journal => {
  const known = [...readJournal(path)];
  const file = openSync(path, "a");
  return {
    write(line) {
      known.push(line);
      // One write of less than a page: lines of several processes do not mix.
      writeSync(file, `${JSON.stringify(line)}\n`);
    },
    lines: () => known,
    close: () => closeSync(file),
  };
};
