// The checker, before it is believed: a sound run is sound, every kind of damage is seen, and nothing of the engine's is
// used to look.

import { readdirSync, readFileSync } from "node:fs";
import {
  CRASH_PROJECT,
  type Findings,
  type JournalLine,
  NOTHING_FOUND,
  openCrashRun,
  planFindings,
  readTables,
  type Tables,
} from "@toolplane/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { createWorld, DAMAGES, type World } from "./damage.ts";

let tables: Tables;
let lines: readonly JournalLine[];
let findings: Findings;
let world: World;

beforeAll(async () => {
  const items = {
    safe: 1,
    unsafe: 1,
    keyed: 1,
    card: 1,
    cancel: 1,
    timeout: 1,
    silent: 1,
    step: 1,
    event: 1,
    command: 1,
  };
  await using run = await openCrashRun();
  findings = await run.recover(items);
  tables = await readTables(run.databaseUrl);
  lines = run.lines();
  world = createWorld(tables, lines);
});

const lineOf = <What extends JournalLine["what"]>(what: What): Extract<JournalLine, { what: What }> =>
  lines.find((line) => line.what === what) as Extract<JournalLine, { what: What }>;
const callOf = (item: string): string => world.callOf(item);

describe("the checker", () => {
  test("[CRASH-9] finds nothing wrong with a sound run, and the run had something in it", () => {
    expect(findings).toEqual(NOTHING_FOUND);
    expect(planFindings(tables, lines)).toEqual(NOTHING_FOUND);
    expect(tables.calls.length).toBe(11);
  });

  test.each(DAMAGES)("[CRASH-9] sees %s (%s)", (_what, fault, make) => {
    expect(planFindings(make(world), lines)[fault]).not.toEqual([]);
  });

  const unsaid: [string, keyof Findings, () => JournalLine[]][] = [
    ["an unsafe tool that ran twice", "doubled", () => [...lines, { ...lineOf("effect"), call: callOf("unsafe") }]],
    ["a success without an effect", "surprising", () => lines.filter((line) => line.what !== "effect")],
    [
      "an item accepted as two calls",
      "doubled",
      () => [
        ...lines,
        { what: "accepted", item: "keyed-0", project: CRASH_PROJECT, call: callOf("safe"), outcomes: ["success"] },
      ],
    ],
    ["two acknowledged results", "doubled", () => [...lines, { ...lineOf("reported"), card: "another" }]],
    ["an item accepted as two turns", "doubled", () => [...lines, { ...lineOf("spawned"), turn: "another" }]],
    ["a message nobody got", "lost", () => [...lines, { what: "published", message: "event-9" }]],
  ];

  test.each(unsaid)("[CRASH-9] sees %s (%s)", (_what, fault, make) => {
    expect(planFindings(tables, make())[fault]).not.toEqual([]);
  });

  test("[CRASH-9] an event in the log is nothing on the postgres bus and unsent with an external one", () => {
    expect(tables.messages.length).toBeGreaterThan(0);
    expect(planFindings(tables, lines, { carrier: "external" }).unsent).not.toEqual([]);
  });

  test("[CRASH-9] sees wakeups that did not arrive, where they are messages", () => {
    const { unsent } = planFindings({ ...tables, messages: [] }, lines, { carrier: "external" });
    expect(unsent).toEqual([expect.stringContaining("0 wakeups arrived")]);
    expect(planFindings(tables, lines).unsent).toEqual([]);
  });

  test("[CRASH-9] shares no code with the engine: it imports itself, the journal, a client of pg and node", () => {
    const folder = new URL("../../packages/testkit/src/checker/", import.meta.url);
    const imports = readdirSync(folder).flatMap((file) =>
      [...readFileSync(new URL(file, folder), "utf8").matchAll(/from "([^"]+)"/g)].map(([, name]) => name),
    );
    const strange = imports.filter(
      (name) =>
        !/^(?:\.\/[a-z.-]+|\.\.\/crash\/journal\.ts|\.\.\/postgres-client\.ts|pg|node:[a-z/]+)$/.test(name ?? ""),
    );
    expect(imports.length).toBeGreaterThan(10);
    expect(strange).toEqual([]);
    const importsOf = (file: string) =>
      [...readFileSync(new URL(file, folder), "utf8").matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
    expect(importsOf("../crash/journal.ts")).toEqual(["node:fs"]);
    expect(importsOf("../postgres-client.ts")).toEqual(["pg"]);
  });
});
