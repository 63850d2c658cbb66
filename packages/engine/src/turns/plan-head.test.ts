// What is remembered of a head must be the head alone: it is read with inbox rows and turns that may be large.

import { expect, test } from "vitest";
import { headAfter, headIdle } from "./plan-head.ts";
import type { HeadRow, TurnRow } from "./turn-row.ts";

const HEAD: HeadRow = {
  ord: 1,
  project_id: "p",
  agent_id: "a",
  status: "suspended",
  active_agent_turn_id: "turn",
  active_channel_id: "public",
  turn_epoch: 3,
  waiting_tool_count: 2,
  chain_seq: 4,
  chain_hash: "hash",
  now_ms: 1,
};
const READ = { ...HEAD, live: ["x".repeat(1_000)], turn: { payload: "y" }, queue: [] } as HeadRow;
const TURN = { agent_turn_id: "turn", channel_id: "public" } as TurnRow;

test("[ARCH-5-Q1] what is remembered of a head has the columns of a head and nothing that was read with it", () => {
  const columns = Object.keys(HEAD).sort();
  expect(Object.keys(headAfter(READ, TURN, 4, { seq: 1, hash: "h" })).sort()).toEqual(columns);
  expect(Object.keys(headIdle(READ)).sort()).toEqual(columns);
});
