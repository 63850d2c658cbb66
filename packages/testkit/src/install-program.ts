// Finds a program a test needs, installing it with the system's package manager when that is possible.
// A test never skips because something is missing: it gets the program or fails saying how to get it.

import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ToolplaneError } from "@toolplane/protocol";

export interface WantedProgram {
  readonly name: string;
  /** The package that brings it on Debian and its children. */
  readonly debianPackage: string;
  /** What a person on another system does. */
  readonly otherwise: string;
}

const run = promisify(execFile);

// Servers live in sbin, which is not on every user's PATH.
const SYSTEM_DIRECTORIES = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];
// A download over a slow line, and another apt-get that has to finish first.
const INSTALL_TIMEOUT_MS = 300_000;

const tryFind = (name: string): string | undefined =>
  [...(process.env.PATH ?? "").split(":").filter((part) => part.startsWith("/")), ...SYSTEM_DIRECTORIES]
    .map((directory) => join(directory, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

const installByApt = async (debianPackage: string): Promise<void> => {
  const options = { timeout: INSTALL_TIMEOUT_MS, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  // Several test files may want it at once; apt waits for its own lock.
  const patience = ["-o", "DPkg::Lock::Timeout=240"];
  const install = ["install", "-y", "--no-install-recommends", ...patience, debianPackage];
  try {
    await run("apt-get", install, options);
  } catch {
    // A fresh image has no package lists.
    await run("apt-get", ["update", ...patience], options);
    await run("apt-get", install, options);
  }
};

export type Installer = (debianPackage: string) => Promise<void>;

/** Undefined where we may not install or there is no apt-get. */
const systemInstaller = (): Installer | undefined =>
  process.getuid?.() === 0 && tryFind("apt-get") !== undefined ? installByApt : undefined;

/** The program's path; throws with what to do when it cannot be had. */
export const ensureProgram = async (wanted: WantedProgram, install = systemInstaller()): Promise<string> => {
  const found = tryFind(wanted.name);
  if (found !== undefined) return found;
  let cause: unknown;
  if (install !== undefined) {
    await install(wanted.debianPackage).catch((reason: unknown) => {
      cause = reason;
    });
    const installed = tryFind(wanted.name);
    if (installed !== undefined) return installed;
  }
  const tried = install !== undefined ? "and apt-get could not install it" : "and it cannot be installed from here";
  throw new ToolplaneError(
    "not_found",
    `${wanted.name} is not on PATH ${tried}; on Debian or Ubuntu: apt-get install ${wanted.debianPackage}; ${wanted.otherwise}`,
    { cause },
  );
};
