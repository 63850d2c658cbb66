// Finds the program an argv names, as execvp would: a path as it is, a bare name along PATH.
// It is looked up before anything is started, so "no such program" is an error here and not an exit code later.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** An absolute path, or undefined when there is no such program. */
export const tryFindProgram = (name: string, path: string | undefined, cwd: string): string | undefined => {
  if (name === "") return undefined;
  const candidates = name.includes("/")
    ? [resolve(cwd, name)]
    : (path ?? "").split(delimiter).map((directory) => resolve(cwd, directory, name));
  return candidates.find(isProgram);
};
