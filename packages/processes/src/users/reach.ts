// Whether another user can run a command: its folder, its program, and the files its arguments name. It is tried, not computed:
// mode bits do not show access lists, mount options or user namespaces.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { tryFindProgram } from "../guarded/find-program.ts";
import { asUser, type RunAs } from "../postgres/run-as.ts";

export interface CommandPlace {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** PATH, along which the program is looked up. */
  readonly path: string | undefined;
}

const SCRIPT = `
if cd -- "$1" 2>/dev/null; then :; else printf %s "$1"; exit; fi
shift
if [ -x "$1" ]; then :; else printf %s "$1"; exit; fi
shift
for file; do if [ -r "$file" ]; then :; else printf %s "$file"; exit; fi; done`;

/** The first path the user cannot use; undefined when it can use all of them, or when there is no such program. */
export const findUnreachable = (user: RunAs, { argv, cwd, path }: CommandPlace): string | undefined => {
  const [name = "", ...args] = argv;
  const program = tryFindProgram(name, path, cwd);
  // The start itself reports this better.
  if (program === undefined) return undefined;
  const files = args
    .filter((arg) => !arg.startsWith("-"))
    .map((arg) => resolve(cwd, arg))
    .filter((file) => existsSync(file));
  const probe = spawnSync("/bin/sh", ["-c", SCRIPT, "sh", cwd, program, ...files], {
    ...asUser(user),
    env: {},
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return probe.stdout === "" ? undefined : probe.stdout;
};
