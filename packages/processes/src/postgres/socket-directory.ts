// The directory of the unix socket: beside the cluster, or, when that path is too long for the kernel, a short one
// under the temp directory (known to the guard, removed at the end; postmaster.pid says where it is).
// It is 0700 and belongs to the server's user: a process that cannot enter it cannot even try a password.

import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Guard } from "../guard/guard.ts";
import { removeFolder } from "../table/remove-folder.ts";
import { temporaryRoot } from "./cache-directory.ts";
import { changeFolder } from "./ownership.ts";
import type { RunAs } from "./run-as.ts";

export interface SocketDirectory {
  readonly path: string;
  /** To be called when the server is gone. */
  remove(): Promise<void>;
}

// What fits into sockaddr_un on macOS (104 bytes, Linux has 108) with its terminating zero.
const SOCKET_PATH_LIMIT = 103;

export const fitsSocket = (directory: string): boolean =>
  Buffer.byteLength(join(directory, ".s.PGSQL.65535")) <= SOCKET_PATH_LIMIT;

const makeClosed = (path: string, runAs: RunAs | undefined): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  changeFolder(path, 0o700, runAs);
};

export const makeSocketDirectory = async (
  home: string,
  runAs: RunAs | undefined,
  guard: Guard,
): Promise<SocketDirectory> => {
  const beside = join(home, "socket");
  if (fitsSocket(beside)) {
    makeClosed(beside, runAs);
    return { path: beside, remove: async () => undefined };
  }
  const path = join(temporaryRoot(runAs), `toolplane-${randomBytes(6).toString("hex")}`);
  const watch = await guard.watch({ label: "socket directory", removeDir: path });
  makeClosed(path, runAs);
  const remove = async (): Promise<void> => {
    // With the rights of the user that writes there: its processes could put a link in the place of a folder meanwhile.
    await removeFolder(path, runAs?.uid);
    await watch.forget();
  };
  return { path, remove };
};
