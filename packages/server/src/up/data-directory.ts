// The data directory: where the embedded database, the first token and notes about them live.

import { accessSync, chmodSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Guard, pickRunAs, temporaryRoot } from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";

export interface DataDirectory {
  readonly path: string;
  /** Removes a throw-away one; leaves any other. */
  end(): Promise<void>;
}

/**
 * Closed to others. As root the database runs as another user, who must be able to pass through (not to list): a
 * directory that is closed to it makes the database move elsewhere.
 */
const MODE = process.getuid?.() === 0 ? 0o711 : 0o700;

/** A token in a repository is a token on the internet. */
const IGNORE_EVERYTHING = "*\n";

export const openDataDirectory = (path: string): DataDirectory => {
  try {
    if (!existsSync(path)) {
      mkdirSync(path, { recursive: true, mode: MODE });
      // The umask has had its say; ours counts. A directory that was there keeps its mode.
      chmodSync(path, MODE);
    }
    const ignore = join(path, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, IGNORE_EVERYTHING);
    accessSync(path, constants.W_OK);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? "unknown";
    const todo = "see that it can be made and written to, or start with another --data";
    throw new ToolplaneError("storage_error", `the data directory ${path} cannot be used (${why})`, {
      detail: { todo },
      cause,
    });
  }
  return { path, end: async () => undefined };
};

/** A directory of this run's own; the guard removes it if we cannot. */
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
