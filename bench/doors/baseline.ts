// Another commit of this repository to compare with: checked out beside, installed by its own lock file, with this bench's
// programs put into it. The programs use only what the packages export, so they run on both.

import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./program.ts";

const run = promisify(execFile);

export interface Baseline extends AsyncDisposable {
  readonly root: string;
  readonly commit: string;
}

const PROGRAMS = ["bench/doors/programs", "bench/doors/ours"];

export const openBaseline = async (commit: string, log: (line: string) => void): Promise<Baseline> => {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), "toolplane-baseline-"));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const root = join(directory, "checkout");
  log(`checking out ${commit} and installing it`);
  await run("git", ["worktree", "add", "--detach", root, commit], { cwd: ROOT });
  stack.defer(async () => {
    await run("git", ["worktree", "remove", "--force", root], { cwd: ROOT });
  });
  await run("npm", ["ci", "--no-audit"], { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  for (const path of PROGRAMS) cpSync(join(ROOT, path), join(root, path), { recursive: true });
  const owned = stack.move();
  return { root, commit, [Symbol.asyncDispose]: () => owned.disposeAsync() };
};
