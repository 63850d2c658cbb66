// `npm run build`: what is published. Plain ESM and declarations from `tsc -b`, and beside them the files that code
// reads at run time and no compiler copies (migrations). Always from nothing, so a renamed file leaves no ghost. The console is
// bundled by build-console.ts.

import { spawnSync } from "node:child_process";
import { cpSync, globSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMPILER = fileURLToPath(import.meta.resolve("typescript/bin/tsc"));

// The console replaces its files one by one: a server that runs meanwhile serves them.
const CONSOLE = "packages/console/dist";
for (const directory of globSync("packages/*/dist", { cwd: ROOT }))
  if (directory !== CONSOLE) rmSync(ROOT + directory, { recursive: true });

// For the tests, beside which `npm run types` checks the same sources: half of the time.
const how = process.argv.includes("--unchecked") ? ["--noCheck"] : [];
const { status } = spawnSync(process.execPath, [COMPILER, "-b", "tsconfig.build.json", ...how], {
  cwd: ROOT,
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);

for (const asset of globSync("packages/*/src/**/*.sql", { cwd: ROOT })) {
  cpSync(ROOT + asset, ROOT + asset.replace("/src/", "/dist/"));
}

// `toolplane init` copies it into Python projects.
cpSync(`${ROOT}hosts/python/toolplane.py`, `${ROOT}packages/server/dist/python/toolplane.py`);

const page = spawnSync(process.execPath, ["scripts/build-console.ts"], { cwd: ROOT, stdio: "inherit" });
if (page.status !== 0) process.exit(page.status ?? 1);

// The compiler's notes on what is up to date: users of the package do not need them.
for (const notes of globSync("packages/*/dist/*.tsbuildinfo", { cwd: ROOT })) rmSync(ROOT + notes);
