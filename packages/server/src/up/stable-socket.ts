// A socket directory whose path stays the same while we run. For a data directory with a long path, the socket is in a temporary
// directory that changes with every start of the server; then a link with a fixed path points to it.

import { existsSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Guard } from "@toolplane/processes";

export interface StableSocket {
  /** The directory to connect through. */
  readonly directory: string;
  /** The server's socket is there now. */
  point(socketDir: string): void;
  remove(): Promise<void>;
}

/** Beside its cluster the directory has a fixed name. */
const isFixed = (socketDir: string): boolean =>
  basename(socketDir) === "socket" && existsSync(join(dirname(socketDir), "cluster"));

export const makeStableSocket = async (socketDir: string, guard: Guard): Promise<StableSocket> => {
  if (isFixed(socketDir)) return { directory: socketDir, point: () => {}, remove: async () => undefined };
  // 0700: another user cannot even try a password.
  const home = mkdtempSync(join(tmpdir(), "toolplane-"));
  const watch = await guard.watch({ label: "link to the socket", removeDir: home });
  const directory = join(home, "pg");
  symlinkSync(socketDir, directory);
  return {
    directory,
    point(now) {
      const fresh = join(home, "next");
      rmSync(fresh, { force: true });
      symlinkSync(now, fresh);
      renameSync(fresh, directory);
    },
    async remove() {
      rmSync(home, { recursive: true, force: true });
      await watch.forget();
    },
  };
};
