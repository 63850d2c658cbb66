// Whose the files of a database are. Earlier versions ran the server as `nobody` when started as root; its files become
// the database's own user's.
//   O1. Only what belonged to the previous user is given away: a link to another user's file stays that user's.
//   O2. A folder changes hands after what is in it, so one that was left half done is seen and finished at the next start.

import { chmodSync, chownSync, lchownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { RunAs } from "./run-as.ts";

/** Everything in `path` and itself; links are not followed. */
export const handOver = (path: string, from: Pick<RunAs, "uid">, to: RunAs): void => {
  const stat = lstatSync(path);
  if (stat.isDirectory()) for (const name of readdirSync(path)) handOver(join(path, name), from, to);
  if (stat.uid === from.uid) lchownSync(path, to.uid, to.gid);
};

/** A folder the server's user may pass through and neither list nor write, and nobody else may enter. */
export const makePassage = (path: string, runAs: RunAs | undefined): void => {
  if (runAs !== undefined) chownSync(path, process.getuid?.() ?? 0, runAs.gid);
  chmodSync(path, runAs === undefined ? 0o700 : 0o710);
};
