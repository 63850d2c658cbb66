// Time, timers, ids and randomness are passed in, so that a test can choose them and a replay can repeat them. `protocol` takes
// all of them as parameters; `engine` has ports, and only the ports' default implementations touch the real thing.

import ts from "typescript";
import { broken, type Violation } from "./violation.ts";
import { isShipped, lineOf, type Workspace, walk } from "./workspace.ts";

const PURE = ["packages/protocol/src/", "packages/engine/src/"];
const PORTS = "packages/engine/src/ports/";

const MEMBERS = new Map([
  ["Date", new Set(["now"])],
  ["Math", new Set(["random"])],
  ["performance", new Set(["now"])],
  ["process", new Set(["hrtime"])],
]);

/** Names that mean randomness wherever they come from: `crypto.randomUUID`, `import { randomUUID }`. */
const RANDOM = new Set(["randomUUID", "randomBytes", "randomInt", "getRandomValues"]);

const TIMERS = new Set(["setTimeout", "setInterval", "setImmediate"]);

const memberName = (node: ts.PropertyAccessExpression | ts.ElementAccessExpression): string => {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  return ts.isStringLiteralLike(node.argumentExpression) ? node.argumentExpression.text : "";
};

/** `Date` and `globalThis.Date`; "" for anything else. */
const globalName = (node: ts.Expression): string => {
  if (ts.isIdentifier(node)) return node.text;
  if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return "";
  return ts.isIdentifier(node.expression) && node.expression.text === "globalThis" ? memberName(node) : "";
};

const ambientName = (node: ts.Node): string | undefined => {
  if (ts.isIdentifier(node) && RANDOM.has(node.text)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
    const [owner, member] = [globalName(node.expression), memberName(node)];
    return MEMBERS.get(owner)?.has(member) === true ? `${owner}.${member}` : undefined;
  }
  if (ts.isNewExpression(node) && globalName(node.expression) === "Date") {
    return (node.arguments?.length ?? 0) === 0 ? "new Date()" : undefined;
  }
  if (ts.isCallExpression(node)) {
    const called = globalName(node.expression);
    return called === "Date" || TIMERS.has(called) ? `${called}()` : undefined;
  }
  // Under another name it would not be recognised: `const { now } = Date`.
  if (ts.isVariableDeclaration(node) && node.initializer !== undefined) {
    const held = globalName(node.initializer);
    return MEMBERS.has(held) || TIMERS.has(held) ? held : undefined;
  }
  return undefined;
};

const mustBePure = (path: string): boolean =>
  isShipped(path) && PURE.some((prefix) => path.startsWith(prefix)) && !path.startsWith(PORTS);

export const checkAmbient = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const [path, source] of workspace.sources) {
    if (!mustBePure(path)) continue;
    walk(source, (node) => {
      const name = ambientName(node);
      if (name === undefined) return;
      const advice = `take the clock, id or random source as a parameter instead of ${name}`;
      found.push(broken("ambient-input", path, lineOf(source, node), advice));
    });
  }
  return found;
};
