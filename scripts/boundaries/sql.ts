// SQL text lives only in `*.sql.ts`, where it can be read, reviewed and measured. Recognised are statements at the
// start of a string or template in shipped code, and any text handed to a `.query(...)`. Keywords count in one case
// ("select", "SELECT"): "Select a tool" is a sentence. The bare words that open and close a transaction name no table and
// may stand where the transaction is run.

import ts from "typescript";
import { broken, type Violation } from "./violation.ts";
import { isContract, isShipped, lineOf, type Workspace, walk } from "./workspace.ts";

const OBJECTS = "(?:table|index|schema|function|procedure|view|type|trigger|role|user|database|extension|sequence)";

/** Matched against the text in lower case with every run of white space made one blank. */
const STATEMENTS: readonly RegExp[] = [
  /^select (?:.* )?from /,
  /^select (?:\d|\$\d|\*|[a-z_]+\()/,
  /^insert into /,
  /^update \S+ (?:.* )?set .*=/,
  /^delete from /,
  /^merge into /,
  /^with (?:recursive )?\w+ ?(?:\([^)]*\) ?)?as (?:not )?(?:materialized )?\(/,
  new RegExp(`^create (?:or replace |unique |unlogged |temp |temporary )?${OBJECTS} `),
  new RegExp(`^(?:alter|drop) ${OBJECTS} `),
  /^truncate table /,
  /^lock table /,
  /^(?:start|begin) transaction\b/,
  /^begin isolation /,
  /^rollback to /,
  /^set (?:local|session|transaction) /,
  /^explain (?:analyze |\([^)]*\) )?(?:select|insert|update|delete|with) /,
  /^do \$/,
  /^call [\w.]+ ?\(/,
  /^values ?\(/,
  /^refresh materialized view /,
];

/** Words that are also English; in capitals, alone or first, they are SQL. */
const COMMANDS = /^(?:SAVEPOINT|TRUNCATE|LISTEN|UNLISTEN|NOTIFY|VACUUM|ANALYZE|COPY|GRANT|REVOKE)\b(?!:)/;

const TRANSACTION_WORDS = new Set(["begin", "commit", "rollback"]);

const afterFirst = (text: string, end: string): string => {
  const at = text.indexOf(end);
  return at === -1 ? "" : text.slice(at + end.length).trimStart();
};

/** What may stand before a statement: comments of both kinds, and the parentheses of a union. */
const withoutPrelude = (text: string): string => {
  let rest = text.trimStart();
  for (;;) {
    if (rest.startsWith("--")) rest = afterFirst(rest, "\n");
    else if (rest.startsWith("/*")) rest = afterFirst(rest, "*/");
    else if (rest.startsWith("(")) rest = rest.slice(1).trimStart();
    else return rest;
  }
};

export const isSql = (text: string): boolean => {
  const statement = withoutPrelude(text);
  if (COMMANDS.test(statement)) return true;
  const first = /^[A-Za-z]+/.exec(statement)?.[0] ?? "";
  if (first !== first.toLowerCase() && first !== first.toUpperCase()) return false;
  const line = statement.toLowerCase().replaceAll(/\s+/g, " ");
  return STATEMENTS.some((pattern) => pattern.test(line));
};

export const textOf = (node: ts.Node): string | undefined => {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    return left === undefined && right === undefined ? undefined : (left ?? "$0") + (right ?? "$0");
  }
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map((span) => `$0${span.literal.text}`).join("");
};

const isQueried = (node: ts.Node): boolean => {
  const call = node.parent;
  if (!ts.isCallExpression(call) || call.arguments[0] !== node) return false;
  return ts.isPropertyAccessExpression(call.expression) && call.expression.name.text === "query";
};

export const checkSql = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const [path, source] of workspace.sources) {
    if (!isShipped(path) || isContract(path) || path.endsWith(".sql.ts")) continue;
    walk(source, (node) => {
      const text = textOf(node);
      if (text === undefined || TRANSACTION_WORDS.has(text.toLowerCase())) return;
      if (!isQueried(node) && !isSql(text)) return;
      found.push(broken("sql-outside-sql-file", path, lineOf(source, node), "move the statement into a *.sql.ts file"));
    });
  }
  return found;
};
