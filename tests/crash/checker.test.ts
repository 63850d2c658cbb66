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

let tables: Tables;
let lines: readonly JournalLine[];
let findings: Findings;

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
});

type Rows = { -readonly [Name in keyof Tables]: Tables[Name][number] };
type Changed<Name extends keyof Tables> = (row: Rows[Name]) => Rows[Name][];

/** The tables with the first row that is wanted replaced by what `change` makes of it. */
const damage = <Name extends keyof Tables>(
  name: Name,
  wanted: (row: Rows[Name]) => boolean,
  change: Changed<Name>,
): Tables => {
  const rows = [...tables[name]] as Rows[Name][];
  const index = rows.findIndex(wanted);
  const row = rows[index];
  if (row === undefined) throw new RangeError(`no row of ${name} to damage`);
  return { ...tables, [name]: [...rows.slice(0, index), ...change(row), ...rows.slice(index + 1)] };
};

const drop = (): never[] => [];
const twice = <Row>(row: Row): Row[] => [row, row];
const any = (): boolean => true;
const lineOf = <What extends JournalLine["what"]>(what: What): Extract<JournalLine, { what: What }> =>
  lines.find((line) => line.what === what) as Extract<JournalLine, { what: What }>;
const callOf = (item: string): string => {
  const found = lines.find((line) => line.what === "accepted" && line.item.startsWith(item));
  return found?.what === "accepted" ? found.call : "";
};
const isCallOf =
  (item: string) =>
  (row: { tool_call_id: string | null }): boolean =>
    row.tool_call_id === callOf(item);

describe("the checker", () => {
  test("[CRASH-9] finds nothing wrong with a sound run, and the run had something in it", () => {
    expect(findings).toEqual(NOTHING_FOUND);
    expect(planFindings(tables, lines)).toEqual(NOTHING_FOUND);
    expect(tables.calls.length).toBe(11);
  });

  const damaged: [string, keyof Findings, () => Tables][] = [
    ["an accepted call that is gone", "lost", () => damage("calls", isCallOf("safe"), drop)],
    [
      "a call that is still open",
      "stuck",
      () => damage("calls", isCallOf("safe"), (row) => [{ ...row, settled: false }]),
    ],
    [
      "an open call nobody will look at",
      "orphaned",
      () =>
        damage("calls", any, (row) => [{ ...row, settled: false, status: "queued", lease_id: null, watched: false }]),
    ],
    [
      "a running call without a lease",
      "orphaned",
      () =>
        damage("calls", any, (row) => [{ ...row, settled: false, status: "running", lease_id: null, watched: true }]),
    ],
    [
      "a settled call that is still watched",
      "orphaned",
      () => damage("calls", any, (row) => [{ ...row, watched: true }]),
    ],
    [
      "a settled call without a result",
      "lost",
      () => damage("calls", any, (row) => [{ ...row, result_card_id: null }]),
    ],
    [
      "an acknowledged result that was replaced",
      "lost",
      () =>
        damage("calls", isCallOf("unsafe"), (row) => [
          {
            ...row,
            result_card_id:
              tables.calls.find((other) => other.tool_call_id !== row.tool_call_id)?.result_card_id ?? null,
          },
        ]),
    ],
    [
      "an acknowledged cancellation that did not last",
      "lost",
      () => damage("calls", isCallOf("cancel"), (row) => [{ ...row, status: "timeout" }]),
    ],
    [
      "an end that cannot be",
      "surprising",
      () => damage("calls", isCallOf("timeout"), (row) => [{ ...row, error_code: "denied" }]),
    ],
    [
      "two calls of one key",
      "doubled",
      () => damage("calls", isCallOf("keyed"), (row) => [row, { ...row, tool_call_id: "another" }]),
    ],
    [
      "a second result card",
      "doubled",
      () =>
        damage(
          "cards",
          (row) => row.type === "tool.result" && !row.candidate,
          (row) => [row, { ...row, card_id: "another" }],
        ),
    ],
    ["a result card that is gone", "lost", () => damage("cards", (row) => row.type === "tool.result", drop)],
    ["a call card that is gone", "lost", () => damage("cards", (row) => row.type === "tool.call", drop)],
    [
      "a card of no call",
      "orphaned",
      () => damage("cards", any, (row) => [row, { ...row, card_id: "another", tool_call_id: "none" }]),
    ],
    [
      "one byte of a card",
      "broken",
      () => damage("cards", any, (row) => [{ ...row, body: row.body.replace("tool_call_id", "tool_call_iD") }]),
    ],
    [
      "a card whose column differs",
      "broken",
      () => damage("cards", any, (row) => [{ ...row, author_id: "sys.other" }]),
    ],
    [
      "a call that cites another card",
      "broken",
      () => damage("calls", any, (row) => [{ ...row, call_card_hash: "0" }]),
    ],
    ["a result hash", "broken", () => damage("calls", any, (row) => [{ ...row, result_hash: "0" }])],
    [
      "a status its card does not have",
      "broken",
      () => damage("calls", isCallOf("safe"), (row) => [{ ...row, status: "partial" }]),
    ],
    [
      "a chain link",
      "broken",
      () =>
        damage(
          "cards",
          (row) => row.chain_seq === 2,
          (row) => [{ ...row, chain_hash: "0" }],
        ),
    ],
    ["a gap in a chain", "broken", () => damage("cards", (row) => row.chain_seq === 2, drop)],
    [
      "a head that cites another chain",
      "broken",
      () =>
        damage(
          "heads",
          (row) => row.status === "suspended",
          (row) => [{ ...row, chain_hash: "0" }],
        ),
    ],
    ["a result told twice", "doubled", () => damage("inbox", any, twice)],
    ["a result not told", "lost", () => damage("inbox", any, drop)],
    [
      "another result told",
      "broken",
      () => damage("inbox", any, (row) => [{ ...row, payload: '{"tool_result_card_id":"x","status":"success"}' }]),
    ],
    [
      "an inbox row of no call",
      "orphaned",
      () => damage("inbox", any, (row) => [row, { ...row, correlation_id: "none" }]),
    ],
    ["a step that lost a call", "lost", () => damage("calls", (row) => !row.headless, drop)],
    [
      "a step dispatched twice",
      "doubled",
      () => damage("steps", any, (row) => [{ ...row, tool_call_ids: row.tool_call_ids.slice(1) }]),
    ],
    ["calls without a step", "orphaned", () => damage("steps", any, drop)],
    [
      "a head that waits for too many",
      "orphaned",
      () =>
        damage(
          "heads",
          (row) => row.status === "suspended",
          (row) => [{ ...row, waiting_tool_count: 9 }],
        ),
    ],
    [
      "a head that runs on while its calls are out",
      "orphaned",
      () =>
        damage(
          "heads",
          (row) => row.status === "suspended",
          (row) => [{ ...row, status: "running", waiting_tool_count: 0 }],
        ),
    ],
    ["a missing dead letter", "lost", () => damage("deadLetters", any, drop)],
    ["a second dead letter", "doubled", () => damage("deadLetters", any, twice)],
    [
      "a dead letter of no call",
      "orphaned",
      () => damage("deadLetters", any, (row) => [row, { ...row, tool_call_id: "none" }]),
    ],
    [
      "a message that was given up",
      "lost",
      () => damage("deadLetters", any, (row) => [row, { ...row, kind: "message" }]),
    ],
    [
      "a replay that is not noted",
      "lost",
      () =>
        damage(
          "deadLetters",
          (row) => row.replayed_as !== null,
          (row) => [{ ...row, replayed_as: null }],
        ),
    ],
    [
      "a letter replayed as two calls",
      "doubled",
      () =>
        damage(
          "calls",
          (row) => row.retry_of !== null,
          (row) => [row, { ...row, tool_call_id: "another" }],
        ),
    ],
    [
      "a command that did not leave",
      "unsent",
      () => damage("messages", any, (row) => [row, { ...row, category: "cmd" }]),
    ],
    ["a delivery nobody took", "unsent", () => ({ ...tables, deliveries: [{ durable: "audit", id: "1" }] })],
  ];

  test.each(damaged)("[CRASH-9] sees %s (%s)", (_what, fault, make) => {
    expect(planFindings(make(), lines)[fault]).not.toEqual([]);
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
    ["a message nobody got", "lost", () => [...lines, { what: "published", message: "event-9" }]],
    [
      "wakeups that did not arrive",
      "unsent",
      () => lines.filter((line) => !(line.what === "handled" && line.subject.endsWith(".wakeup"))),
    ],
  ];

  test.each(unsaid)("[CRASH-9] sees %s (%s)", (_what, fault, make) => {
    expect(planFindings(tables, make())[fault]).not.toEqual([]);
  });

  test("[CRASH-9] an event in the log is nothing on the postgres bus and unsent with an external one", () => {
    expect(tables.messages.length).toBeGreaterThan(0);
    expect(planFindings(tables, lines, { carrier: "external" }).unsent).not.toEqual([]);
  });

  test("[CRASH-9] shares no code with the engine: it imports itself, the journal, pg and node", () => {
    const folder = new URL("../../packages/testkit/src/checker/", import.meta.url);
    const imports = readdirSync(folder).flatMap((file) =>
      [...readFileSync(new URL(file, folder), "utf8").matchAll(/from "([^"]+)"/g)].map(([, name]) => name),
    );
    const strange = imports.filter(
      (name) => !/^(?:\.\/[a-z.-]+|\.\.\/crash\/journal\.ts|pg|node:[a-z/]+)$/.test(name ?? ""),
    );
    expect(imports.length).toBeGreaterThan(10);
    expect(strange).toEqual([]);
    const journal = readFileSync(new URL("../crash/journal.ts", folder), "utf8");
    expect([...journal.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)).toEqual(["node:fs"]);
  });
});
