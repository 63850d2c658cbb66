// The neighbours' own install: bench/neighbours has a package.json and a lock file of its own, outside the workspaces.

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./program.ts";

export const NEIGHBOURS = join(ROOT, "bench/neighbours");

const placeOf = (name: string): string => join(NEIGHBOURS, "node_modules", name, "package.json");

/** From the install, or what the manifest asks for when there is none. */
export const neighbourVersion = (name: string): string | undefined => {
  const path = existsSync(placeOf(name)) ? placeOf(name) : undefined;
  if (path !== undefined) return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
  const manifest = JSON.parse(readFileSync(join(NEIGHBOURS, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return manifest.dependencies[name];
};

export const findNeighboursMissing = (name: string): string | undefined =>
  existsSync(placeOf(name)) ? undefined : `${name} is not installed: run npm ci in bench/neighbours`;

/** Brings them once; scripts of packages are not run, so nothing is built or reported. */
export const installNeighbours = async (log: (line: string) => void): Promise<void> => {
  if (existsSync(join(NEIGHBOURS, "node_modules"))) return;
  log("npm ci in bench/neighbours");
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit"], { cwd: NEIGHBOURS });
};
