// Callers branch on an error's code, so shipped code never throws (or rejects with) an error that has none.

import ts from "typescript";
import { broken, type Violation } from "./violation.ts";
import { isContract, isShipped, lineOf, type Workspace, walk } from "./workspace.ts";

const CODELESS = new Set(["Error", "TypeError", "RangeError", "SyntaxError", "AggregateError"]);

/** `Error` and `globalThis.Error`. */
const className = (node: ts.Expression): string | undefined => {
  if (ts.isIdentifier(node)) return node.text;
  return ts.isPropertyAccessExpression(node) ? node.name.text : undefined;
};

/** `known` are the names of variables that hold an error without a code. */
const isCodeless = (node: ts.Node | undefined, known: ReadonlySet<string>): boolean => {
  if (node === undefined) return false;
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true;
  if (ts.isIdentifier(node)) return known.has(node.text);
  if (ts.isConditionalExpression(node)) return isCodeless(node.whenTrue, known) || isCodeless(node.whenFalse, known);
  if (ts.isBinaryExpression(node)) return isCodeless(node.left, known) || isCodeless(node.right, known);
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) {
    return isCodeless(node.expression, known);
  }
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return false;
  return CODELESS.has(className(node.expression) ?? "");
};

const variablesOf = (source: ts.SourceFile): ReadonlySet<string> => {
  const found = new Set<string>();
  walk(source, (node) => {
    if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name)) return;
    const made = node.initializer;
    if (made !== undefined && !ts.isStringLiteralLike(made) && isCodeless(made, found)) found.add(node.name.text);
  });
  return found;
};

const isReject = (node: ts.Expression): boolean =>
  (ts.isIdentifier(node) && node.text === "reject") ||
  (ts.isPropertyAccessExpression(node) && node.name.text === "reject");

export const checkThrows = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const [path, source] of workspace.sources) {
    if (!isShipped(path) || isContract(path)) continue;
    const known = variablesOf(source);
    walk(source, (node) => {
      const thrown = ts.isThrowStatement(node)
        ? node.expression
        : ts.isCallExpression(node) && isReject(node.expression)
          ? node.arguments[0]
          : undefined;
      if (!isCodeless(thrown, known)) return;
      const advice = "throw a ToolplaneError with a code, or a UsageError for a programmer's mistake";
      found.push(broken("bare-error", path, lineOf(source, node), advice));
    });
  }
  return found;
};
