// Which paths a sandbox opens so that a program finds its packages, and none of the opened folders holds a link to a directory.
// Node compares paths as text, so such a link would lead out of the folder (`link/..`).
// PO1. A folder that holds one is opened entry by entry. A linked package is opened at its link, where Node looks for it, and at its
//     real place; not at all when it holds such a link itself, because Node can only open everything below a link, or nothing.
// PO2. Links stand where installers put them: in `node_modules`, in the folders of `@scope` and of a store (`.pnpm`) there, and in
//     the `node_modules` of packages. An installed package holds no other (npm packs no links), so only these are looked at.
// PO3. A package that is linked from elsewhere is a folder of its author: all of it is searched, within a bound.

import { join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import type { SandboxFiles } from "./sandbox-files.ts";

const MAX_ENTRIES = 50_000;

const isGroup = (name: string): boolean => name.startsWith("@") || name.startsWith(".");
const isInstalled = (real: string): boolean => real.includes("/node_modules/");

export const openPackages = (modules: string, files: SandboxFiles): readonly string[] => {
  const safe = new Map<string, boolean>();
  let seen = 0;

  const entriesOf = (folder: string) =>
    [...files.entries(folder)].map((entry) => ({ ...entry, path: join(folder, entry.name) }));

  const isWayOut = (link: string): boolean => !files.isFile(files.tryRealPath(link) ?? "");

  /** Whether a folder of an author holds a link to a directory or to nothing. */
  const holdsWayOut = (folder: string): boolean =>
    entriesOf(folder).some(({ kind, path }) => {
      seen += 1;
      if (seen > MAX_ENTRIES)
        throw new ToolplaneError(
          "bad_request",
          `the packages that are linked into ${modules} hold more than ${MAX_ENTRIES} files: install them instead of linking them`,
        );
      return kind === "link" ? isWayOut(path) : kind === "directory" && holdsWayOut(path);
    });

  const isSafe = (real: string): boolean => {
    const known = safe.get(real);
    if (known !== undefined) return known;
    const found = isInstalled(real) ? openInstalled(real)[0] === real : !holdsWayOut(real);
    safe.set(real, found);
    return found;
  };

  const openLink = (path: string): readonly string[] => {
    const real = files.tryRealPath(path);
    if (real === undefined) return [];
    return files.isFile(real) || isSafe(real) ? [path, real] : [];
  };

  const openInstalled = (folder: string): readonly string[] => {
    const inner = join(folder, "node_modules");
    const opened = files.isDirectory(inner) ? openGroup(inner) : [inner];
    if (opened[0] === inner) return [folder];
    return entriesOf(folder).flatMap(({ name, path }) => (name === "node_modules" ? opened : [path]));
  };

  /** The folder, or what is opened instead of it. */
  const openGroup = (folder: string): readonly string[] => {
    const entries = entriesOf(folder).map(({ name, kind, path }) => {
      if (kind === "directory") return { path, as: isGroup(name) ? openGroup(path) : openInstalled(path) };
      return { path, as: kind === "link" && isWayOut(path) ? openLink(path) : [path] };
    });
    return entries.every(({ path, as }) => as[0] === path && as.length === 1)
      ? [folder]
      : entries.flatMap(({ as }) => as);
  };

  return openGroup(modules);
};
