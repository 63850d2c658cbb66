// The messages between a parent and its guard: one JSON object per line over the guard's stdin and stdout.
// Both ends are this package in the same version, so the lines are not validated beyond their shape.
// This file is part of the guard's program: it imports nothing but Node.

/** Something that may not outlive the parent: a process group, a directory, or both. */
export interface WatchedEntry {
  readonly id: number;
  readonly label: string;
  readonly pid?: number;
  /** The start time that the parent read; a later process with the same number has another one. */
  readonly started?: string;
  /** What its processes inherit, even when they leave their group: see kin.ts. */
  readonly mark?: string;
  readonly soleUid?: number;
  readonly signal: NodeJS.Signals;
  readonly graceMs: number;
  /** Removed after every watched process has ended. */
  readonly removeDir?: string;
}

export type GuardRequest =
  | { readonly op: "watch"; readonly entry: WatchedEntry }
  | { readonly op: "forget"; readonly id: number };

/** The guard has understood request `op` for `id` and will act on it from now on. */
export interface GuardAnswer {
  readonly op: "watch" | "forget";
  readonly id: number;
}

/** Splits a byte stream into lines; what follows the last newline is kept for the next call. */
export const createLineSplitter = (onLine: (line: string) => void): ((chunk: string) => void) => {
  let rest = "";
  return (chunk) => {
    rest += chunk;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      if (line !== "") onLine(line);
    }
  };
};
