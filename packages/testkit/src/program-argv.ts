// How a test starts a TypeScript program of the repository: compiled, when the run has compiled it (tests/compile-programs.ts), else from
// source as development does.

import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Where the run has put this program of the repository; undefined when it has not compiled it. */
export const tryFindCompiled = (file: URL): string | undefined => {
  const folder = process.env.TOOLPLANE_TEST_PROGRAMS;
  if (folder === undefined) return undefined;
  const path = join(folder, relative(ROOT, fileURLToPath(file)).replace(/\.ts$/, ".js"));
  return existsSync(path) ? path : undefined;
};

/** Node and what it is given to run this file. */
export const programArgv = (file: URL): readonly [string, ...string[]] => {
  const compiled = tryFindCompiled(file);
  return compiled === undefined
    ? [process.execPath, "--conditions=source", fileURLToPath(file)]
    : [process.execPath, compiled];
};
