// `npm run pack [-- DIR]`: builds, and packs everything a user installs as tarballs into a folder (`tarballs`). They install
// together with `npm install ./DIR/*.tgz`, without a registry that has them.

import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = resolve(process.argv[2] ?? `${ROOT}tarballs`);

/** Only the repository's own tests use it. */
const NOT_INSTALLED = "packages/testkit";

const run = (program: string, argv: readonly string[]): void => {
  const { status } = spawnSync(program, argv, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) process.exit(status ?? 1);
};

if (!process.argv.includes("--built")) run(process.execPath, ["scripts/build.ts"]);
mkdirSync(folder, { recursive: true });
for (const old of globSync("toolplane-*.tgz", { cwd: folder })) rmSync(`${folder}/${old}`);
const packages = globSync("packages/*/package.json", { cwd: ROOT })
  .map((path) => path.replace("/package.json", ""))
  .filter((path) => path !== NOT_INSTALLED)
  .toSorted();
run("npm", ["pack", ...packages.map((path) => `${ROOT}${path}`), "--pack-destination", folder, "--loglevel=error"]);
