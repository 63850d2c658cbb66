// Files that import each other in a ring cannot be read, tested or loaded one at a time. Type-only imports count: they
// are how a ring starts.

import { dirname, join } from "node:path/posix";
import { type ImportSite, isRelative, listImports } from "./import-sites.ts";
import { broken, type Violation } from "./violation.ts";
import type { Workspace } from "./workspace.ts";

interface Edge extends ImportSite {
  readonly to: string;
}

type Graph = ReadonlyMap<string, readonly Edge[]>;

const graphOf = (workspace: Workspace): Graph =>
  new Map(
    [...workspace.sources].map(([path, source]) => [
      path,
      listImports(source)
        .filter((site) => isRelative(site.specifier))
        .map((site) => ({ ...site, to: join(dirname(path), site.specifier) }))
        .filter((edge) => workspace.sources.has(edge.to)),
    ]),
  );

export const checkCycles = (workspace: Workspace): readonly Violation[] => {
  const graph = graphOf(workspace);
  const found: Violation[] = [];
  const finished = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    if (finished.has(path)) return;
    trail.push(path);
    for (const edge of graph.get(path) ?? []) {
      const start = trail.indexOf(edge.to);
      if (start === -1) {
        visit(edge.to);
        continue;
      }
      const ring = [...trail.slice(start), edge.to].join(" -> ");
      found.push(broken("import-cycle", path, edge.line, `move what both need into a file of its own: ${ring}`));
    }
    trail.pop();
    finished.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return found;
};
