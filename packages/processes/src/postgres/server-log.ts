// The file a server writes its messages to. It is a file and not a pipe, so that a busy parent does not stall the server, and the
// server does not notice a dead one.

import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from "node:fs";

export interface ServerLog {
  readonly fd: number;
  close(): void;
  /** What was written since it was opened, at most the last two thousand characters. */
  tail(): string;
}

// Messages are warnings and worse, so this is a long history; the one before it is kept too.
const ROTATE_BYTES = 10 * 1024 * 1024;
const TAIL_CHARACTERS = 2000;

export const openServerLog = (path: string): ServerLog => {
  if (existsSync(path) && statSync(path).size > ROTATE_BYTES) renameSync(path, `${path}.1`);
  const fd = openSync(path, "a", 0o600);
  const from = statSync(path).size;
  return {
    fd,
    close: () => closeSync(fd),
    tail: () =>
      (existsSync(path) ? readFileSync(path).subarray(from).toString("utf8").trim() : "").slice(-TAIL_CHARACTERS),
  };
};
