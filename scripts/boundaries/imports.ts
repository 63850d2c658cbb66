// package.json is the dependency graph: an import that the nearest manifest does not declare is refused, and so is a
// relative import that reaches into another package past its public face. `protocol` runs in browsers, so it has no
// Node modules. Tests may also use the root's tools and the test kit, which nobody installs. Only tests and the test kit
// import a package's `/internal` door.

import { builtinModules } from "node:module";
import { dirname, join } from "node:path/posix";
import { type ImportSite, isRelative, listImports, packageOf } from "./import-sites.ts";
import { broken, type Violation } from "./violation.ts";
import { isShipped, type Manifest, nearestManifest, type Workspace } from "./workspace.ts";

const TEST_KIT = "@toolplane/testkit";
const INTERNAL = "/internal";
const NO_NODE = "packages/protocol";
/** It is shipped as a bundle that holds what it imports, so installing it installs none of its dependencies. */
const BUNDLED = "packages/console";

const isDeclared = (workspace: Workspace, path: string, manifest: Manifest, name: string): boolean => {
  if (manifest.runtime.has(name)) return true;
  if (isShipped(path)) return manifest.directory === BUNDLED && manifest.development.has(name);
  if (manifest.development.has(name) || name === manifest.name) return true;
  const root = workspace.manifests.get("");
  if (root?.development.has(name) === true || root?.runtime.has(name) === true) return true;
  if (manifest.directory !== "") return name === TEST_KIT;
  return [...workspace.manifests.values()].some((other) => other.name === name);
};

const checkPackageImport = (workspace: Workspace, path: string, site: ImportSite): Violation | undefined => {
  const manifest = nearestManifest(workspace, path);
  if (manifest === undefined) return broken("undeclared-import", path, site.line, "add a package.json above this file");
  if (site.specifier.startsWith("node:")) {
    return manifest.directory === NO_NODE && isShipped(path)
      ? broken(
          "node-import",
          path,
          site.line,
          `protocol runs in browsers: take what ${site.specifier} does as a parameter`,
        )
      : undefined;
  }
  if (builtinModules.includes(site.specifier)) {
    return broken("undeclared-import", path, site.line, `write "node:${site.specifier}" for a Node module`);
  }
  const name = packageOf(site.specifier);
  if (site.specifier === `${name}${INTERNAL}` && isShipped(path) && manifest.name !== TEST_KIT) {
    return broken("internal-import", path, site.line, `${site.specifier} is for tests: use what ${name} offers`);
  }
  if (isDeclared(workspace, path, manifest, name)) return undefined;
  return name === manifest.name
    ? broken("undeclared-import", path, site.line, `import from this package by a relative path, not as ${name}`)
    : broken("undeclared-import", path, site.line, `declare ${name} in ${manifest.path} or do not import it`);
};

const checkRelativeImport = (workspace: Workspace, path: string, site: ImportSite): Violation | undefined => {
  const target = join(dirname(path), site.specifier);
  const own = nearestManifest(workspace, path);
  const other = nearestManifest(workspace, target);
  if (!target.startsWith("../") && own === other) return undefined;
  return broken(
    "leaves-package",
    path,
    site.line,
    `import ${other?.name || "the other package"} by its name, not by the path ${site.specifier}`,
  );
};

export const checkImports = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const [path, source] of workspace.sources) {
    for (const site of listImports(source)) {
      const check = isRelative(site.specifier) ? checkRelativeImport : checkPackageImport;
      const violation = check(workspace, path, site);
      if (violation !== undefined) found.push(violation);
    }
  }
  return found;
};
