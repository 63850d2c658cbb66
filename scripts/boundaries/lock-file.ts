// `npm ci` refuses a lock file that lacks an optional package, and npm leaves out the ones it could not find for other
// platforms when the file was written. So the file is checked here, where it says which.

import { broken, type Violation } from "./violation.ts";
import type { Workspace } from "./workspace.ts";

const PATH = "package-lock.json";

interface LockFile {
  readonly packages?: Record<string, { readonly optionalDependencies?: Record<string, string> }>;
}

/** `node_modules/a/node_modules/@b/c` -> `@b/c`. */
const nameOf = (place: string): string => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);

export const checkLockFile = (workspace: Workspace): readonly Violation[] => {
  const text = workspace.files.get(PATH);
  if (text === undefined) return [];
  const { packages = {} } = JSON.parse(text) as LockFile;
  const present = new Set(Object.keys(packages).map(nameOf));
  return Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !present.has(name))
      .map(([name, version]) => {
        const advice = `${name} ${version} is missing: choose a version of ${nameOf(place)} whose builds can all be found`;
        return broken("lock-file", PATH, text.slice(0, text.indexOf(`"${name}"`)).split("\n").length, advice);
      }),
  );
};
