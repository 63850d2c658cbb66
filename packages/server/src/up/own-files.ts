// The files of a data directory are trusted: keys, tokens, the database. So they must be ours: a directory or a key made by
// another user, or a link in its place, would let that user read what is stored there, or make us change other files with our
// rights.

import { lstatSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";

/** Files that their modes keep secret: another owner could read them whatever the mode is. */
const SECRETS = ["token", "database-key", "database-url"] as const;
const PLACES = ["postgres", "location", ...SECRETS] as const;

const lookAt = (path: string, look: (path: string) => Stats): Stats | undefined => {
  try {
    return look(path);
  } catch {
    return undefined;
  }
};

const refuse = (path: string, why: string): ToolplaneError =>
  new ToolplaneError("storage_error", `the data directory ${path} cannot be used: ${why}`, {
    detail: { todo: "start with another --data, or give it to this user and remove what others put there" },
  });

/** Of a directory that is there. `uid`: ours; undefined where the system has no users. */
export const checkOwnFiles = (path: string, uid: number | undefined): void => {
  if (uid === undefined) return;
  const link = lookAt(path, lstatSync);
  if (link?.isSymbolicLink() === true && link.uid !== uid && link.uid !== 0)
    throw refuse(path, `it is a link of user ${link.uid}, who can make it lead elsewhere at any time`);
  const directory = lookAt(path, statSync);
  if (directory !== undefined && directory.uid !== uid && directory.uid !== 0)
    throw refuse(path, `it belongs to user ${directory.uid}, not to user ${uid} who starts this`);
  for (const name of PLACES) {
    const found = lookAt(join(path, name), lstatSync);
    if (found === undefined) continue;
    if (found.isSymbolicLink()) throw refuse(path, `${name} in it is a link`);
    const isSecret = SECRETS.some((secret) => secret === name);
    if (isSecret && found.uid !== uid) throw refuse(path, `${name} in it belongs to user ${found.uid}`);
  }
};
