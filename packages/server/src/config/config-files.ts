// The files a configuration names by pattern, read and checked as far as YAML goes.

import { globSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Log } from "@toolplane/engine";
import { isRecord, ToolplaneError } from "@toolplane/protocol";
import { refuseConfig } from "./refuse.ts";
import { parseYamlFile } from "./yaml-file.ts";

export interface DefinitionFile {
  /** As people know it: relative to where they are. */
  readonly name: string;
  readonly value: unknown;
}

const WILDCARDS = /[*?[{]/;

const readDefinition = (path: string, cwd: string): DefinitionFile => {
  const name = relative(cwd, path) || path;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw refuseConfig(`${name}: it cannot be read`, cause);
  }
  return { name, value: parseYamlFile(text, name).value };
};

/** In the order of their names, each file once. A named file that does not exist is an error, an empty pattern a warning. */
export const readDefinitionFiles = (patterns: readonly string[], cwd: string, log: Log): readonly DefinitionFile[] => {
  const paths = new Set<string>();
  for (const pattern of patterns) {
    const found = globSync(pattern);
    for (const path of found.sort()) paths.add(path);
    if (found.length > 0) continue;
    const shown = relative(cwd, pattern) || pattern;
    if (!WILDCARDS.test(pattern)) throw refuseConfig(`${shown}: there is no such file`);
    log.warn("no file matches a pattern of the configuration", { pattern: shown });
  }
  return [...paths].map((path) => readDefinition(path, cwd));
};

/** One name in two files is a conflict naming both. */
export const checkNames = (files: readonly DefinitionFile[], key: string): void => {
  const seen = new Map<string, string>();
  for (const { name, value } of files) {
    const defined = isRecord(value) ? value[key] : undefined;
    if (typeof defined !== "string") continue;
    const other = seen.get(defined);
    if (other !== undefined) throw new ToolplaneError("conflict", `${defined} is defined in ${other} and in ${name}`);
    seen.set(defined, name);
  }
};
