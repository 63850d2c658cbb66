// The neighbours' own install: bench/neighbours has a package.json and a lock file of its own, outside the workspaces.

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./program.ts";

export const NEIGHBOURS = join(ROOT, "bench/neighbours");

const placeOf = (name: string, home: string): string => join(home, "node_modules", name, "package.json");

/** What the manifest asks for: its versions are exact. */
export const neighbourVersion = (name: string): string => {
  const manifest = JSON.parse(readFileSync(join(NEIGHBOURS, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return manifest.dependencies[name] ?? "";
};

export const findNeighbourMissing = (name: string, home: string): string | undefined =>
  existsSync(placeOf(name, home)) ? undefined : `${name} is not installed: run npm ci in bench/neighbours`;

/** Brings them once; scripts of packages are not run, so nothing is built or reported. */
export const installNeighbours = async (log: (line: string) => void): Promise<void> => {
  if (existsSync(join(NEIGHBOURS, "node_modules"))) return;
  log("npm ci in bench/neighbours");
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit"], { cwd: NEIGHBOURS });
};
