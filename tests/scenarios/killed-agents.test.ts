// The whole process group is killed while agents and their teams are at work; the next start needs no hand, every turn
// ends once, and nobody's work is lost or done twice.

import { expect, test } from "vitest";
import { openStack } from "./stack.ts";

const TEAMS = 12;

interface TurnBody {
  readonly agent_turn_id: string;
  readonly status: string;
  readonly deliverable_card_id: string | null;
  readonly parent_agent_turn_id: string | null;
}

test("[SLICE-killed-agents] SIGKILL of everything while teams of agents work, start again: every turn ends once", async () => {
  await using stack = await openStack();
  const api = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
    (await stack.api(method, `/projects/demo${path}`, body)).body as T;
  const list = async () => (await api<{ items: readonly TurnBody[] }>("GET", "/turns?limit=500")).items;
  const asked: string[] = [];
  for (let n = 0; n < TEAMS; n++) {
    await api("POST", "/agents", { agent_id: `lead${n}`, profile_name: "helper" });
    const turn = await api<TurnBody>("POST", `/agents/lead${n}/turns`, { instruction: `a team for task ${n}` });
    asked.push(turn.agent_turn_id);
  }
  // In the middle: some have ended, some have not.
  let turns = await list();
  while (!turns.some(({ status }) => status === "success")) turns = await list();
  await stack.killAll();

  await stack.start();
  for (const id of asked) {
    const turn = await api<TurnBody & { deliverable: string }>("GET", `/turns/${id}?wait_seconds=60`);
    expect(turn).toMatchObject({ status: "success", deliverable: "Two readers say: 5 words, and 8 words." });
  }
  const after = await list();
  expect(after).toHaveLength(TEAMS * 3);
  expect(after.filter(({ status }) => status !== "success")).toEqual([]);
  expect(new Set(after.map(({ deliverable_card_id }) => deliverable_card_id)).size).toBe(TEAMS * 3);
  for (const id of asked)
    expect(after.filter(({ parent_agent_turn_id }) => parent_agent_turn_id === id)).toHaveLength(2);
});
