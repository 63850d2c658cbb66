// Where a file names another module, in every form the language has.

import ts from "typescript";
import { lineOf, walk } from "./workspace.ts";

export interface ImportSite {
  readonly specifier: string;
  readonly line: number;
}

const literalText = (node: ts.Node | undefined): string | undefined =>
  node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;

/** Our own packages' names have no other use in a call than to be loaded: `createRequire(here)("@toolplane/sdk")`. */
const OWN_PACKAGE = "@toolplane/";

const isLoader = ({ expression, arguments: given }: ts.CallExpression): boolean =>
  expression.kind === ts.SyntaxKind.ImportKeyword ||
  (ts.isIdentifier(expression) && expression.text === "require") ||
  literalText(given[0])?.startsWith(OWN_PACKAGE) === true;

const specifierOf = (node: ts.Node): string | undefined => {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return literalText(node.moduleSpecifier);
  if (ts.isImportTypeNode(node)) {
    return ts.isLiteralTypeNode(node.argument) ? literalText(node.argument.literal) : undefined;
  }
  if (ts.isExternalModuleReference(node)) return literalText(node.expression);
  if (ts.isCallExpression(node)) return isLoader(node) ? literalText(node.arguments[0]) : undefined;
  return undefined;
};

export const listImports = (source: ts.SourceFile): readonly ImportSite[] => {
  const sites: ImportSite[] = [];
  walk(source, (node) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) sites.push({ specifier, line: lineOf(source, node) });
  });
  return sites;
};

export const isRelative = (specifier: string): boolean => specifier.startsWith("./") || specifier.startsWith("../");

/** `@scope/name/deep` -> `@scope/name`; `name/deep` -> `name`. */
export const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
