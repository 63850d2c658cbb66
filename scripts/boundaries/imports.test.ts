import { describe, expect, test } from "vitest";
import { checkImports } from "./imports.ts";
import { sampleWorkspace } from "./sample.ts";

const SHIPPED = "packages/engine/src/x.ts";
const TEST = "packages/engine/src/x.test.ts";
const ROOT_TEST = "tests/x.test.ts";

const rulesFor = (path: string, text: string): readonly string[] =>
  checkImports(sampleWorkspace({ [path]: text })).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

describe("[REPO-1-1] an import that the nearest manifest does not declare is refused", () => {
  test.each([
    ["import", 'import pg from "pg";'],
    ["side effect", 'import "pg";'],
    ["type", 'import type { Pool } from "pg";'],
    ["import type node", 'export type P = import("pg").Pool;'],
    ["re-export", 'export { Pool } from "pg";'],
    ["dynamic", 'export const p = import("pg");'],
    ["require", 'export const p = require("pg");'],
    ["import of a require", 'import p = require("pg");'],
    ["a require by another name", 'export const p = load("@toolplane/sdk");'],
    ["its address", 'export const p = import.meta.resolve("@toolplane/sdk");'],
    ["deep path", 'import { x } from "pg/lib/x";'],
    ["scoped deep path", 'import { x } from "@toolplane/bus/x";'],
    ["development dependency", 'import fc from "fast-check";'],
    ["tool of the root", 'import { test } from "vitest";'],
    ["test kit", 'import { x } from "@toolplane/testkit";'],
    ["itself by name", 'import { x } from "@toolplane/engine";'],
    ["Node module without its scheme", 'import { readFileSync } from "fs";'],
  ])("%s", (_name, text) => {
    expect(rulesFor(SHIPPED, `\n${text}\n`)).toEqual([`${SHIPPED}:2 undeclared-import`]);
  });

  test.each([
    ["a package's test may not import an undeclared package", TEST, 'import { x } from "@toolplane/bus";'],
    ["a root test may not import a package that nobody declares", ROOT_TEST, 'import pg from "pg";'],
  ])("%s", (_name, path, text) => {
    expect(rulesFor(path, text)).toEqual([`${path}:1 undeclared-import`]);
  });

  test.each([
    ["declared", SHIPPED, 'import { card } from "@toolplane/protocol";'],
    ["a subpath of what is declared", SHIPPED, 'import { card } from "@toolplane/protocol/card";'],
    ["Node module", SHIPPED, 'import { join } from "node:path";'],
    ["test: development dependency", TEST, 'import fc from "fast-check";'],
    ["test: tool of the root", TEST, 'import { test } from "vitest";'],
    ["test: test kit", TEST, 'import { x } from "@toolplane/testkit";'],
    ["test: its own package by name", TEST, 'import { x } from "@toolplane/engine";'],
    ["root test: workspace package", ROOT_TEST, 'import { x } from "@toolplane/engine";'],
    ["root script: tool of the root", "scripts/x.ts", 'import ts from "typescript";'],
  ])("fine: %s", (_name, path, text) => {
    expect(rulesFor(path, text)).toEqual([]);
  });
});

describe("[REPO-1-2] protocol has no Node modules", () => {
  test("shipped code is refused", () => {
    const path = "packages/protocol/src/hash.ts";
    expect(rulesFor(path, 'import { createHash } from "node:crypto";')).toEqual([`${path}:1 node-import`]);
  });

  test("its tests run under Node and may use it", () => {
    expect(rulesFor("packages/protocol/src/hash.test.ts", 'import { createHash } from "node:crypto";')).toEqual([]);
  });
});

describe("[REPO-1-3] a relative import stays in its package", () => {
  test.each([
    [SHIPPED, "../../protocol/src/card.ts"],
    [TEST, "../../protocol/src/card.ts"],
    [ROOT_TEST, "../packages/protocol/src/card.ts"],
    [SHIPPED, "../../../tests/x.ts"],
    ["tests/y.ts", "../../elsewhere/z.ts"],
  ])("%s may not import %s", (path, specifier) => {
    expect(rulesFor(path, `import { x } from "${specifier}";`)).toEqual([`${path}:1 leaves-package`]);
  });

  test("inside the package it may", () => {
    expect(rulesFor("packages/protocol/src/a/b.ts", 'import { card } from "../card.ts";')).toEqual([]);
  });
});

test("a sound repository breaks nothing", () => {
  expect(checkImports(sampleWorkspace())).toEqual([]);
});

test("[REPO-1-16] only tests and the test kit import a package's internal door", () => {
  const text = 'import { faults } from "@toolplane/protocol/internal";\nfaults;\n';
  const broken = (path: string): readonly string[] =>
    checkImports(sampleWorkspace({ [path]: text })).map(({ file, line, rule }) => `${file}:${line} ${rule}`);
  expect(broken("packages/engine/src/x.ts")).toEqual(["packages/engine/src/x.ts:1 internal-import"]);
  expect(broken("packages/engine/src/x.test.ts")).toEqual([]);
  expect(broken("tests/x.test.ts")).toEqual([]);
});

test("[REPO-1-1] the console is bundled: it ships what it has as a development dependency, and nothing else", () => {
  const console = {
    "packages/console/package.json": '{"name":"@toolplane/console","devDependencies":{"react":"1"}}',
    "packages/console/src/main.tsx": 'import "react";\nimport "vitest";\n',
  };
  expect(checkImports(sampleWorkspace(console)).map(({ line, rule }) => `${line} ${rule}`)).toEqual([
    "2 undeclared-import",
  ]);
});
