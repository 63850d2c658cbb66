// The `toolplane` command for tests: compiled once per run; from source without that (tests/compile-programs.ts).
// tests/up/launcher.test.ts is about the launcher itself.

import { fileURLToPath } from "node:url";
import { tryFindCompiled } from "@toolplane/testkit";

const COMPILED = new URL("./programs/toolplane.ts", import.meta.url);
const LAUNCHER = new URL("../bin/toolplane.mjs", import.meta.url);

/** Node and the program. */
export const TOOLPLANE: readonly [string, string] = [
  process.execPath,
  tryFindCompiled(COMPILED) ?? fileURLToPath(LAUNCHER),
];
