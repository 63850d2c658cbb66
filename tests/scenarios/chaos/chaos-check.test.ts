// The check of turns finds what it is there for.

import { expect, test } from "vitest";
import { planTurnFindings, type TurnRow } from "./chaos-check.ts";

const turn = (id: string, key: string, change: Partial<TurnRow> = {}): TurnRow => ({
  agent_turn_id: id,
  status: "success",
  error_code: null,
  correlation_id: key,
  parent_agent_turn_id: null,
  step_count: 2,
  ended: true,
  ...change,
});

const TEAM = [
  turn("t0", "turn-0"),
  turn("c0", "x", { parent_agent_turn_id: "t0" }),
  turn("c1", "y", { parent_agent_turn_id: "t0" }),
  turn("t1", "turn-1"),
];
const HANDED = new Map(TEAM.map(({ agent_turn_id }) => [agent_turn_id, 1]));

const find = (turns: readonly TurnRow[], handed: ReadonlyMap<string, number> = HANDED) => {
  const { lost, doubled, stuck } = planTurnFindings(turns, handed, 2);
  return [lost.length, doubled.length, stuck.length];
};
const but = (index: number, change: Partial<TurnRow>): readonly TurnRow[] =>
  TEAM.map((row, at) => (at === index ? { ...row, ...change } : row));

test.each<[string, readonly number[], readonly number[]]>([
  ["nothing", find(TEAM), [0, 0, 0]],
  ["a turn that is not there", find(TEAM.slice(0, 3)), [1, 0, 0]],
  ["a child that is not there", find(TEAM.filter((_, at) => at !== 2)), [1, 0, 0]],
  [
    "a child too many",
    find([...TEAM, turn("c2", "z", { parent_agent_turn_id: "t1" })], new Map([...HANDED, ["c2", 1]])),
    [0, 1, 0],
  ],
  ["a turn twice", find([...TEAM, turn("t9", "turn-1")], new Map([...HANDED, ["t9", 1]])), [0, 1, 0]],
  ["a turn that failed", find(but(3, { status: "failed", error_code: "internal_error" })), [1, 0, 0]],
  ["a step too many", find(but(3, { step_count: 3 })), [0, 1, 0]],
  ["two deliverables", find(TEAM, new Map([...HANDED, ["t1", 2]])), [0, 1, 0]],
  ["no deliverable", find(TEAM, new Map([...HANDED, ["t1", 0]])), [1, 0, 0]],
  [
    "a turn that still runs",
    find(but(3, { ended: false, status: "active" }), new Map([...HANDED, ["t1", 0]])),
    [0, 0, 1],
  ],
])("[UP-9-9] %s: lost, doubled, stuck", (_what, found, expected) => {
  expect(found).toEqual(expected);
});
