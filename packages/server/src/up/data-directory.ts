// The data directory: where the embedded database, the first token and notes about them live.

import { accessSync, chmodSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Guard, pickRunAs, temporaryRoot } from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";
import { checkOwnFiles } from "./own-files.ts";

export interface DataDirectory {
  readonly path: string;
  /** Removes a throw-away directory; keeps any other. */
  end(): Promise<void>;
}

/**
 * Closed to others. As root the database runs as another user, which must be able to pass through the directory (not to list it):
 * if it cannot, the database is stored elsewhere.
 */
const MODE = process.getuid?.() === 0 ? 0o711 : 0o700;

/** Ignored by git, because a token in a repository is soon public. */
const IGNORE_EVERYTHING = "*\n";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EEXIST: "a file is in its place",
  EISDIR: "a folder is in the place of its .gitignore",
  ENAMETOOLONG: "its name is too long",
  ENOENT: "the system allows no new folders there",
  ENOSPC: "the disk is full",
  ENOTDIR: "a file is in its place",
  EPERM: "this user may not write there",
  EROFS: "the disk is read-only",
};

/** Not `recursive`: where the system refuses a new folder with "parent is missing" (/proc), Node would try for ever. */
const makeDirectory = (path: string): void => {
  try {
    mkdirSync(path, { mode: MODE });
  } catch (cause) {
    const parent = dirname(path);
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT" || existsSync(parent)) throw cause;
    makeDirectory(parent);
    mkdirSync(path, { mode: MODE });
  }
};

export const openDataDirectory = (path: string): DataDirectory => {
  checkOwnFiles(path, process.getuid?.());
  try {
    if (!existsSync(path)) {
      makeDirectory(path);
      // The umask may have changed the mode, so it is set again. A directory that existed before keeps its mode.
      chmodSync(path, MODE);
    }
    const ignore = join(path, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, IGNORE_EVERYTHING);
    accessSync(path, constants.W_OK);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
    const why = REASONS[code] === undefined ? code : `${REASONS[code]} (${code})`;
    const todo = "see that it can be made and written to, or start with another --data";
    throw new ToolplaneError("storage_error", `the data directory ${path} cannot be used: ${why}`, {
      detail: { todo },
      cause,
    });
  }
  return { path, end: async () => undefined };
};

/** A directory for this run only; the guard removes it if we cannot. */
export const openThrowAwayDirectory = async (guard: Guard): Promise<DataDirectory> => {
  const path = mkdtempSync(join(temporaryRoot(pickRunAs()), "toolplane-up-"));
  const watch = await guard.watch({ label: "throw-away data", removeDir: path });
  chmodSync(path, MODE);
  return {
    path,
    end: async () => {
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
      await watch.forget();
    },
  };
};
