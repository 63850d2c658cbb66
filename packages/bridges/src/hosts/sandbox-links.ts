// Refuses a sandbox whose folders hold a way out (SEC-9-U8).
// Node compares a path as text, and the system follows links first: `folder/link/../file` is a path in `folder` for Node,
// and a file beside the target of the link for the system. So a folder that the operator names must not hold such a link.

import { join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import { isWithin, type SandboxFiles } from "./sandbox-files.ts";

/** These hold links and devices of the whole system. */
const SYSTEM_FOLDERS = new Set(
  ["", "bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "usr", "var"].map(
    (name) => `/${name}`,
  ),
);
const MAX_ENTRIES = 50_000;
const MAX_MS = 5_000;
const ADVICE = "name narrower folders, or copy instead of linking";

export interface LinkSearch {
  readonly files: SandboxFiles;
  /** Folders that no sandbox opens; they are not searched. */
  readonly closed: readonly string[];
  readonly maxEntries?: number;
  readonly maxMs?: number;
  readonly now?: () => number;
}

const refuse = (named: string, problem: string): never => {
  throw new ToolplaneError("bad_request", `the sandbox names ${named}, ${problem}`);
};

/** What is wrong with a link, or undefined. A link to a file only leads to that file. */
const planLink = (path: string, allowed: readonly string[], { files, closed }: LinkSearch): string | undefined => {
  const target = files.tryRealPath(path);
  if (target === undefined) return "is a link to nothing";
  if (files.isDirectory(target)) return "is a link to a directory";
  const isOpen = allowed.some((root) => isWithin(target, root)) && !closed.some((root) => isWithin(target, root));
  return isOpen ? undefined : "is a link to a file outside of the named folders";
};

/** Throws when one of the absolute paths `named` holds a link that leads out of `allowed`. */
export const refuseLinks = (named: readonly string[], allowed: readonly string[], search: LinkSearch): void => {
  const { files, closed, maxEntries = MAX_ENTRIES, maxMs = MAX_MS, now = () => performance.now() } = search;
  const real = (path: string): string => files.tryRealPath(path) ?? path;
  const roots = allowed.map(real);
  const until = now() + maxMs;
  let seen = 0;
  for (const folder of named) {
    if (SYSTEM_FOLDERS.has(folder) || SYSTEM_FOLDERS.has(real(folder)))
      refuse(folder, "which is a folder of the system: name the folders in it that the host needs");
    const waiting = [real(folder)];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const directory = at;
      if (closed.some((path) => isWithin(directory, path))) continue;
      for (const { name, kind } of files.entries(directory)) {
        seen += 1;
        if (seen > maxEntries) refuse(folder, `and its folders hold more than ${maxEntries} entries: ${ADVICE}`);
        if (now() > until) refuse(folder, `and reading its folders takes more than ${maxMs} ms: ${ADVICE}`);
        const path = join(directory, name);
        if (kind === "directory") waiting.push(path);
        const problem = kind === "link" ? planLink(path, roots, search) : undefined;
        if (problem !== undefined) refuse(folder, `and ${path} in it ${problem}: ${ADVICE}`);
      }
    }
  }
};
