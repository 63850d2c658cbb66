// The package must run in a browser, a worker, anywhere: no Node module, no Node global, small.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { type BuildResult, build } from "esbuild";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));
/** What a page that takes every name of one door loads, uncompressed. */
const MAX_BYTES = 64 * 1024;

/** The doors of the package: its main entry and its subpaths. */
const ENTRIES: readonly string[] = Object.values(
  (
    JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      readonly exports: Readonly<Record<string, { readonly source: string }>>;
    }
  ).exports,
).map(({ source }) => source.replace("./src/", ""));

/** Globals of Node that a browser does not have; using one would work in every other test. */
const NODE_GLOBALS = new Set([
  "process",
  "Buffer",
  "require",
  "global",
  "module",
  "exports",
  "__dirname",
  "__filename",
]);

const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".ts") && !path.endsWith(".test.ts"),
);

const parse = (text: string): ts.SourceFile => ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true);

const moduleNames = (file: ts.SourceFile): readonly string[] =>
  file.statements.flatMap((statement) =>
    (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) &&
    statement.moduleSpecifier !== undefined &&
    ts.isStringLiteral(statement.moduleSpecifier)
      ? [statement.moduleSpecifier.text]
      : [],
  );

/** A name in a position where it stands for a variable: not a member, not a key, not a declared property. */
const isFreeUse = (node: ts.Identifier, { parent } = node): boolean =>
  !(ts.isPropertyAccessExpression(parent) && parent.name === node) &&
  !(ts.isPropertyAssignment(parent) && parent.name === node) &&
  !ts.isPropertySignature(parent) &&
  !(ts.isBindingElement(parent) && parent.propertyName === node);

const nodeGlobals = (file: ts.SourceFile): readonly string[] => {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && NODE_GLOBALS.has(node.text) && isFreeUse(node)) found.push(node.text);
    // `import()` with a computed name would slip past the list of module names.
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) found.push("import()");
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
};

/** Every door at once, as one name. */
const ALL = ENTRIES.map((entry) => `export * from "./${entry}";`).join("\n");

const bundle = async (entry: string, options: { readonly zod: "inside" | "outside" }): Promise<string> => {
  const result: BuildResult<{ write: false }> = await build({
    ...(entry === "all" ? { stdin: { contents: ALL, resolveDir: SRC, loader: "ts" } } : { entryPoints: [SRC + entry] }),
    bundle: true,
    minify: true,
    write: false,
    platform: "browser",
    conditions: ["source"],
    target: "es2024",
    ...(options.zod === "outside" ? { format: "esm", external: ["zod"] } : { format: "iife", globalName: "protocol" }),
  });
  return result.outputFiles[0]?.text ?? "";
};

describe("[PKG-1] no Node in the sources", () => {
  test("the check sees what it looks for", () => {
    const bad = parse(
      'import fs from "node:fs";\nexport { x } from "node:os";\nprocess.exit();\nBuffer.from("");\nimport(y);',
    );
    expect(moduleNames(bad)).toEqual(["node:fs", "node:os"]);
    expect(nodeGlobals(bad)).toEqual(["process", "Buffer", "import()"]);
    expect(nodeGlobals(parse("const a = { process: 1 }; a.process; interface B { module: string }"))).toEqual([]);
  });

  test.each(sources)("%s", (path) => {
    const file = parse(readFileSync(SRC + path, "utf8"));
    const foreign = moduleNames(file).filter((name) => name !== "zod" && !name.startsWith("."));
    expect(foreign).toEqual([]);
    expect(nodeGlobals(file)).toEqual([]);
  });
});

test.each(ENTRIES)("[PKG-2] %s, minified for the browser with zod left outside, stays below 64 kB", async (entry) => {
  const text = await bundle(entry, { zod: "outside" });
  expect(text).toContain("protocol_violation");
  expect(Buffer.byteLength(text)).toBeLessThan(MAX_BYTES);
});

test("[PKG-3] with zod inside it parses a subject, registers a tool and builds a card in a bare context", async () => {
  const context = createContext({});
  runInContext(await bundle("all", { zod: "inside" }), context);
  expect(runInContext("typeof process + typeof Buffer + typeof require", context)).toBe("undefinedundefinedundefined");
  const run = (script: string): unknown => JSON.parse(runInContext(`JSON.stringify(${script})`, context) as string);
  const { version, target } = run('protocol.parseSubject("cg.v1r4.p1.public.cmd.tool.text.run")') as Record<
    string,
    unknown
  >;
  expect([version, target]).toEqual(["v1r4", "text"]);
  const tool = run(`protocol.modelToolSpec(protocol.parseToolDefinition(
    { tool_name: "count_words", target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.run", after_execution: "suspend" },
    { projectId: "p1", version: "v1r4", compileSchema: () => () => [] },
  ))`);
  expect(tool).toMatchObject({ type: "function", function: { name: "count_words" } });
  const card = run(`protocol.parseCard(JSON.parse(protocol.cardText(protocol.createToolCallCard({
    cardId: "c1", projectId: "p1", createdAt: "2026-01-01T00:00:00.000Z", authorId: "helper",
    agentTurnId: "turn_1", toolCallId: "tc_1", toolName: "count_words", arguments: { text: "a b" },
  }))))`);
  expect(card).toMatchObject({ type: "tool.call", tool_call_id: "tc_1", content: { arguments: { text: "a b" } } });
});
