import { expect, test } from "vitest";
import { checkUnused } from "./unused.ts";
import { createWorkspace } from "./workspace.ts";

const ENTRY = (source: string): string => JSON.stringify({ source });
const manifest = (name: string, entry = "./src/index.ts"): string =>
  `{"name":"@toolplane/${name}","exports":{".":${ENTRY(entry)}}}`;

/** A server that starts `run` of the engine, and a tool author's sdk. */
const SOUND: Record<string, string> = {
  "packages/engine/package.json": manifest("engine"),
  "packages/engine/src/index.ts": 'export { run } from "./run.ts";\n',
  "packages/engine/src/run.ts": "export const run = 1;\n",
  "packages/sdk/package.json": manifest("sdk"),
  "packages/sdk/src/index.ts": "export const defineTool = 1;\n",
  "packages/server/package.json": manifest("server", "./src/main.ts"),
  "packages/server/bin/launch.mjs": 'const { main } = await import("../src/main.ts");\nmain();\n',
  "packages/server/src/main.ts": 'import { run } from "@toolplane/engine";\nexport const main = () => run;\n',
};

const found = (extra: Record<string, string> = {}): readonly string[] =>
  checkUnused(createWorkspace(new Map(Object.entries({ ...SOUND, ...extra })))).map(
    ({ file, line, rule, advice }) => `${file}:${line} ${rule}: ${advice}`,
  );

test("a repository in which everything is used has nothing to report", () => {
  expect(found()).toEqual([]);
});

test("[REPO-1-14] code that only a test calls is refused, and so is what only that code calls", () => {
  const lines = found({
    "packages/engine/src/old.ts":
      'import { base } from "./base.ts";\n\nexport const old = () => base + own;\nconst own = 1;\n',
    "packages/engine/src/base.ts": "export const base = 1;\n",
    "packages/engine/src/old.test.ts": 'import { old } from "./old.ts";\nold();\n',
  });
  expect(lines).toEqual([
    "packages/engine/src/old.ts:3 dead-code: no shipped code reaches old: delete it",
    "packages/engine/src/old.ts:4 dead-code: no shipped code reaches own: delete it",
    "packages/engine/src/base.ts:1 dead-code: no shipped code reaches base: delete it",
  ]);
});

test("[REPO-1-14] two declarations that only call each other are refused", () => {
  const text = "export const run = 1;\nfunction ping() { pong(); }\nfunction pong() { ping(); }\n";
  expect(found({ "packages/engine/src/run.ts": text }).map((line) => line.split(" ")[0])).toEqual([
    "packages/engine/src/run.ts:2",
    "packages/engine/src/run.ts:3",
  ]);
});

test("[REPO-1-14] a member with the name of a declaration is no use of it", () => {
  const text = "export const run = { old: 1 }.old;\nconst old = 1;\n";
  expect(found({ "packages/engine/src/run.ts": text })).toHaveLength(1);
});

test.each([
  ["by a namespace", 'import * as all from "./run.ts";\nall.run;\n'],
  ["by an import type", 'type Run = typeof import("./run.ts").run;\nlet x: Run;\nx;\n'],
  ["by a dynamic import", 'const { run: mine } = await import("./run.ts");\nmine;\n'],
  ["by an alias", 'import { run as mine } from "./run.ts";\nmine;\n'],
  ["as a program", "const program = new URL(`./run.$" + '{"ts"}`, import.meta.url);\nprogram;\n'],
])("used %s is used", (_how, text) => {
  expect(
    found({
      "packages/server/src/run.ts": "export const run = 1;\n",
      "packages/server/src/main.ts": `${text}export const main = 1;\nimport { run as engine } from "@toolplane/engine";\nengine;\n`,
    }),
  ).toEqual([]);
});

test("[REPO-1-15] an exported value that no file imports is refused, though its own file uses it", () => {
  const text = "export const run = () => part;\nexport const part = 1;\n";
  expect(found({ "packages/engine/src/run.ts": text })).toEqual([
    "packages/engine/src/run.ts:2 unused-export: no file imports part: do not export it",
  ]);
});

test("[REPO-1-15] a test may import a part of what is shipped, and a signature may name its types", () => {
  expect(
    found({
      "packages/engine/src/run.ts":
        "export interface Ask {}\nexport const run = (ask: Ask) => part;\nexport const part = 1;\n",
      "packages/engine/src/run.test.ts": 'import { part } from "./run.ts";\npart;\n',
    }),
  ).toEqual([]);
});

test("[REPO-1-15] a package's door lists only names that another file imports; a door for users lists what it likes", () => {
  expect(
    found({
      "packages/engine/src/index.ts": 'export { part, run } from "./run.ts";\n',
      "packages/engine/src/run.ts": "export const run = () => part;\nexport const part = 1;\n",
      "packages/sdk/src/index.ts": 'export { a } from "./a.ts";\n',
      "packages/sdk/src/a.ts": "export const a = 1;\n",
    }),
  ).toEqual(["packages/engine/src/index.ts:1 unused-export: no file imports part: take it off the list"]);
});

test("[REPO-1-14] code of the test kit that no test reaches is refused", () => {
  expect(
    found({
      "packages/testkit/package.json": manifest("testkit"),
      "packages/testkit/src/index.ts": 'export { start, stop } from "./start.ts";\n',
      "packages/testkit/src/start.ts": "export const start = 1;\nexport const stop = 1;\n",
      "tests/x.test.ts": 'import { start } from "@toolplane/testkit";\nstart;\n',
    }),
  ).toEqual([
    "packages/testkit/src/start.ts:2 dead-code: no shipped code reaches stop: delete it",
    "packages/testkit/src/index.ts:1 unused-export: no file imports stop: take it off the list",
  ]);
});

test("[REPO-1-16] a name that only tests import is listed in the internal door of a package that has one", () => {
  const files = {
    "packages/engine/package.json": `{"name":"@toolplane/engine","exports":{".":${ENTRY("./src/index.ts")},"./internal":${ENTRY("./src/internal.ts")}}}`,
    "packages/engine/src/run.ts": "export const run = () => part;\nexport const part = 1;\n",
    "packages/engine/src/internal.ts": "export {};\n",
    "tests/x.test.ts": 'import { part } from "@toolplane/engine";\npart;\n',
  };
  expect(found({ ...files, "packages/engine/src/index.ts": 'export { part, run } from "./run.ts";\n' })).toEqual([
    "packages/engine/src/index.ts:1 unused-export: only tests import part: list it in @toolplane/engine/internal",
  ]);
});

test("[REPO-1-16] a door for users lists what an example or a page imports, and types; the rest is in the internal door", () => {
  const files = {
    "packages/server/package.json": `{"name":"@toolplane/server","exports":{".":${ENTRY("./src/main.ts")},"./internal":${ENTRY("./src/internal.ts")}}}`,
    "packages/server/src/main.ts":
      'export type { Ask } from "./open.ts";\nexport { open, part } from "./open.ts";\nimport { run } from "@toolplane/engine";\nrun;\n',
    "packages/server/src/open.ts":
      "export interface Ask {}\nexport const open = (ask: Ask) => part;\nexport const part = 1;\n",
    "packages/server/src/internal.ts": "export {};\n",
    "README.md": '```ts\nimport { open } from "@toolplane/server";\nopen();\n```\n',
    "tests/x.test.ts": 'import { part } from "@toolplane/server";\npart;\n',
  };
  expect(found(files)).toEqual([
    "packages/server/src/main.ts:2 unused-export: only tests import part: list it in @toolplane/server/internal",
  ]);
});

test("[REPO-1-14] the console begins with its page: what the page does not reach is refused", () => {
  const lines = found({
    "packages/console/package.json": '{"name":"@toolplane/console"}',
    "packages/console/src/main.tsx": 'import { App } from "./app.tsx";\nApp();\n',
    "packages/console/src/app.tsx": "export const App = () => <p />;\n",
    "packages/console/src/old.tsx": "const Old = () => <p />;\n",
  });
  expect(lines).toEqual(["packages/console/src/old.tsx:1 dead-code: no shipped code reaches Old: delete it"]);
});
