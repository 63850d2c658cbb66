// The architecture page, the manifests and the build say the same about the packages, or this fails.

import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { compareEdges, compareStates, parseEdgeTable } from "./architecture/edge-table.ts";
import { compareLabels, parseLabelTable } from "./architecture/rule-labels.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SCOPE = "@toolplane/";

const read = (path: string): string => readFileSync(ROOT + path, "utf8");

interface ManifestFile {
  readonly dependencies?: Record<string, string>;
}

interface BuildFile {
  readonly references?: readonly { readonly path: string }[];
}

const edgesOf = (name: string): readonly string[] =>
  Object.keys((JSON.parse(read(`packages/${name}/package.json`)) as ManifestFile).dependencies ?? {})
    .filter((dependency) => dependency.startsWith(SCOPE))
    .map((dependency) => dependency.slice(SCOPE.length));

const referencesOf = (path: string): readonly string[] =>
  ((JSON.parse(read(path)) as BuildFile).references ?? []).map((reference) => basename(dirname(reference.path))).sort();

const packages = globSync("packages/*/package.json", { cwd: ROOT }).map((path) => basename(dirname(path)));
const withLibrary = new Set(packages.filter((name) => existsSync(`${ROOT}packages/${name}/src/index.ts`)));
/** The console is a page: it is bundled, and has no names to import. */
const withPage = packages.filter((name) => existsSync(`${ROOT}packages/${name}/index.html`));
const withCode = new Set([...withLibrary, ...withPage]);
const rows = parseEdgeTable(read("docs/architecture.md"));

describe("this repository", () => {
  test("[REPO-3-1] manifests declare the edges of the table, no more and no fewer", () => {
    expect(compareEdges(rows, new Map(packages.map((name) => [name, edgesOf(name)])))).toEqual([]);
  });

  test("[REPO-3-2] the table says what is built and what is planned", () => {
    expect(compareStates(rows, withCode)).toEqual([]);
  });

  test("every label of a rule belongs to one file, and the architecture page lists it", () => {
    const paths = ["packages/*/src/**/*.ts", "bench/**/*.ts", "hosts/python/*.py"]
      .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
      .filter((path) => !path.endsWith(".test.ts") && !path.includes("node_modules"));
    const sources = new Map(paths.map((path) => [path, read(path)]));
    expect(compareLabels(parseLabelTable(read("docs/architecture.md")), sources)).toEqual([]);
  });

  test("a label that two files define, that is not listed, or that has no rule is named", () => {
    const entries = parseLabelTable("| `a/b` | RO `relay.ts`, GD `guard.ts` and `guard-process.ts` |");
    const sources = new Map([
      ["a/b/relay.ts", "//   RO1. A rule.\n//   I3. Shared."],
      ["a/b/guard.ts", "// GD1. A rule."],
      ["a/b/other.ts", "// RO2. Another rule.\n// X1. A third."],
    ]);
    expect(compareLabels(entries, sources)).toEqual([
      "a/b/other.ts defines rules RO1..., which belong to a/b/relay.ts",
      "a/b/other.ts defines rules X1..., which are not listed",
      "a/b/guard-process.ts defines no rule GD1",
    ]);
  });

  test("a label that is listed for two files is named, though both define it", () => {
    const entries = parseLabelTable("| `a/b` | RO `relay.ts` |\n| `c` | RO `other.ts` |");
    const sources = new Map([
      ["a/b/relay.ts", "// RO1. A rule."],
      ["c/other.ts", "// RO1. Another rule."],
    ]);
    expect(compareLabels(entries, sources)).toEqual([
      "RO is listed for a/b/relay.ts, and again for c/other.ts",
      "c/other.ts defines rules RO1..., which belong to a/b/relay.ts",
    ]);
  });

  test("[REPO-3-3] in the table engine and sdk cannot reach each other", () => {
    const reach = (name: string): readonly string[] => {
      const edges = rows.find((row) => row.name === name)?.edges ?? [];
      return [...edges, ...edges.flatMap(reach)];
    };
    expect(reach("engine")).toContain("protocol");
    expect(reach("engine")).not.toContain("sdk");
    expect(reach("sdk")).toContain("protocol");
    expect(reach("sdk")).not.toContain("engine");
  });

  test("[REPO-3-4] the build holds every package with code, each after what it imports", () => {
    expect(referencesOf("tsconfig.build.json")).toEqual([...withLibrary].sort());
    for (const name of withLibrary) {
      expect.soft(referencesOf(`packages/${name}/tsconfig.build.json`), name).toEqual([...edgesOf(name)].sort());
    }
  });
});

describe("drift is seen", () => {
  const page = [
    "| package | state | what lives here | may import |",
    "|---|---|---|---|",
    "| `protocol` | built | words | `zod` only |",
    "| `bus` | built | roads | `protocol` |",
    "| `sdk` | planned | tools | `protocol`, `bus` (the port) |",
    "| `server` | planned | all | `protocol`, `bus`, `sdk` |",
  ].join("\n");
  const table = parseEdgeTable(page);
  const sound = new Map<string, readonly string[]>([
    ["protocol", []],
    ["bus", ["protocol"]],
  ]);

  test("the table is read as data", () => {
    expect(table).toEqual([
      { name: "protocol", isBuilt: true, edges: [] },
      { name: "bus", isBuilt: true, edges: ["protocol"] },
      { name: "sdk", isBuilt: false, edges: ["protocol", "bus"] },
      { name: "server", isBuilt: false, edges: ["protocol", "bus", "sdk"] },
    ]);
    expect(compareEdges(table, sound)).toEqual([]);
  });

  test.each([
    ["an edge too many", ["protocol", ["bus"]], "protocol declares bus; the table does not"],
    ["an edge missing", ["bus", []], "the table lets bus import protocol; its manifest does not"],
    ["an unknown package", ["console", []], "packages/console is not in the table"],
    ["an edge too many of a planned package", ["sdk", ["server"]], "sdk declares server; the table does not"],
  ] as const)("%s", (_name, [name, edges], sentence) => {
    expect(compareEdges(table, new Map([...sound, [name, edges]]))).toEqual([sentence]);
  });

  test("a planned package may lack edges", () => {
    expect(compareEdges(table, new Map([...sound, ["sdk", ["protocol"]]]))).toEqual([]);
  });

  test("a state that is not true", () => {
    expect(compareStates(table, new Set(["protocol", "sdk"]))).toEqual([
      "bus is said to be built and is not",
      "sdk is said to be planned and is not",
    ]);
  });

  test("tests change the engine's tables through the door of the testkit, whose changes have names", () => {
    const WRITES = /\b(?:update|insert into|delete from|truncate)\s+(?:state|cards|resource|bus|public)\.\w+/;
    const isDoor = (path: string): boolean => path.endsWith(".sql.ts");
    // What it writes is refused: that is its subject.
    const REFUSED = new Set(["tests/up/database-door.test.ts"]);
    const around = globSync("tests/**/*.ts", { cwd: ROOT })
      .filter((path) => !isDoor(path) && !REFUSED.has(path))
      .filter((path) => WRITES.test(read(path)));
    expect(around).toEqual([]);
  });
});
