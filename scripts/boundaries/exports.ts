// One name for one thing, wherever it is imported: no default exports (except where a tool's configuration demands
// one), and no `export *`, which hides what a package promises.

import ts from "typescript";
import { broken, type Violation } from "./violation.ts";
import { lineOf, type Workspace, walk } from "./workspace.ts";

const isConfiguration = (path: string): boolean => /\.config\.(?:ts|mjs)$/.test(path);

const isDefaultExport = (node: ts.Node): boolean => {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === "default";
  return ts.canHaveModifiers(node)
    ? (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword)
    : false;
};

const isExportAll = (node: ts.Node): boolean =>
  ts.isExportDeclaration(node) && (node.exportClause === undefined || ts.isNamespaceExport(node.exportClause));

export const checkExports = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const [path, source] of workspace.sources) {
    walk(source, (node) => {
      if (isExportAll(node)) found.push(broken("export-star", path, lineOf(source, node), "list the names"));
      if (isDefaultExport(node) && !isConfiguration(path)) {
        found.push(broken("default-export", path, lineOf(source, node), "export it by its name"));
      }
    });
  }
  return found;
};
