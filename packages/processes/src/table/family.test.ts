import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findFamily, type Leader } from "./family.ts";
import type { ProcessRow, ProcessTable } from "./process-table.ts";

const row = (pid: number, ppid: number, changes: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  ppid,
  pgid: pid,
  session: pid,
  started: `s${pid}`,
  zombie: false,
  ...changes,
});

const tableOf = (...rows: ProcessRow[]): ProcessTable => new Map(rows.map((entry) => [entry.pid, entry]));

const pidsOf = (leader: Leader, table: ProcessTable, seen = new Set<string>()): number[] =>
  findFamily(leader, table, seen)
    .map(({ pid }) => pid)
    .sort((a, b) => a - b);

const LEADER: Leader = { pid: 10, started: "s10" };

describe("findFamily", () => {
  test.each<[string, ProcessRow[], number[]]>([
    ["nobody is left", [row(1, 0)], []],
    ["the leader alone", [row(1, 0), row(10, 1)], [10]],
    ["members of its group", [row(10, 1), row(11, 10, { pgid: 10 }), row(12, 99, { pgid: 10 })], [10, 11, 12]],
    ["another group of its session", [row(10, 1), row(11, 1, { pgid: 11, session: 10 })], [10, 11]],
    ["a descendant in a session of its own", [row(10, 1), row(11, 10), row(12, 11)], [10, 11, 12]],
    ["F2: a group whose leader is gone", [row(11, 1, { pgid: 10 })], [11]],
    ["F1: the number belongs to a later process", [row(10, 1, { started: "later" }), row(11, 10)], []],
    ["a zombie leader whose child lives", [row(10, 1, { zombie: true }), row(11, 10)], [11]],
    ["strangers", [row(10, 1), row(20, 1), row(21, 20)], [10]],
  ])("%s", (_what, rows, expected) => {
    expect(pidsOf(LEADER, tableOf(...rows))).toEqual(expected);
  });

  test("FA3: whoever was seen to belong still belongs when its parent is gone", () => {
    const seen = new Set<string>();
    expect(pidsOf(LEADER, tableOf(row(10, 1), row(11, 10), row(12, 11)), seen)).toEqual([10, 11, 12]);
    expect(pidsOf(LEADER, tableOf(row(12, 1), row(13, 12)), seen)).toEqual([12, 13]);
  });

  test("FA1: a seen number with another start time is somebody else", () => {
    const seen = new Set<string>();
    pidsOf(LEADER, tableOf(row(10, 1), row(11, 10)), seen);
    expect(pidsOf(LEADER, tableOf(row(11, 1, { started: "later" })), seen)).toEqual([]);
  });

  test("a start time that could not be read does not protect anybody", () => {
    expect(pidsOf({ pid: 10, started: undefined }, tableOf(row(10, 1)))).toEqual([10]);
  });

  test("it never contains somebody without a tie to the leader, and ends on any table, cycles included", () => {
    const anyRow = fc.record({
      pid: fc.integer({ min: 1, max: 30 }),
      ppid: fc.integer({ min: 0, max: 30 }),
      pgid: fc.integer({ min: 1, max: 30 }),
      session: fc.integer({ min: 1, max: 30 }),
      started: fc.constantFrom("s10", "other"),
      zombie: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 30 }), (rows) => {
        const table = tableOf(...rows);
        const family = new Set(findFamily(LEADER, table, new Set()).map(({ pid }) => pid));
        const tied = (entry: ProcessRow, depth: number): boolean =>
          depth > 0 &&
          (entry.pid === 10 || entry.pgid === 10 || entry.session === 10 || tiedParent(entry.ppid, depth - 1));
        const tiedParent = (pid: number, depth: number): boolean => {
          const parent = table.get(pid);
          return parent !== undefined && tied(parent, depth);
        };
        const reused = table.get(10) !== undefined && table.get(10)?.started !== "s10";
        for (const entry of table.values()) {
          expect(family.has(entry.pid)).toBe(!reused && !entry.zombie && tied(entry, 40));
        }
      }),
    );
  });
});
