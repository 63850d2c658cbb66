// Callers branch on an error's code, so shipped code never throws (or rejects with) an error that has none.

import ts from "typescript";
import { broken, type Violation } from "./violation.ts";
import { isContract, isShipped, lineOf, type Workspace, walk } from "./workspace.ts";

const CODELESS = new Set(["Error", "TypeError", "RangeError", "SyntaxError", "AggregateError"]);

const isCodeless = (node: ts.Node | undefined): boolean => {
  if (node === undefined) return false;
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true;
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return false;
  return ts.isIdentifier(node.expression) && CODELESS.has(node.expression.text);
};

const isReject = (node: ts.Expression): boolean =>
  (ts.isIdentifier(node) && node.text === "reject") ||
  (ts.isPropertyAccessExpression(node) && node.name.text === "reject");

export const checkThrows = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const [path, source] of workspace.sources) {
    if (!isShipped(path) || isContract(path)) continue;
    walk(source, (node) => {
      const thrown = ts.isThrowStatement(node)
        ? node.expression
        : ts.isCallExpression(node) && isReject(node.expression)
          ? node.arguments[0]
          : undefined;
      if (!isCodeless(thrown)) return;
      const advice = "throw a ToolplaneError with a code, or a UsageError for a programmer's mistake";
      found.push(broken("bare-error", path, lineOf(source, node), advice));
    });
  }
  return found;
};
