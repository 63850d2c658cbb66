// The whole process group is killed while 500 calls run and teams of agents work; the next start needs no hand. Every call
// settles once, every turn ends once, and nobody's work is lost or done twice.

import { afterAll, beforeAll, expect, test } from "vitest";
import { type BusName, openStack, type Stack } from "./stack.ts";

const CALLS = 500;
const TEAMS = 12;

interface CallBody {
  readonly tool_call_id: string;
  readonly status: string;
}

interface TurnBody {
  readonly agent_turn_id: string;
  readonly status: string;
  readonly deliverable_card_id: string | null;
  readonly parent_agent_turn_id: string | null;
}

let stack: Stack;
const made = new Set<string>();
const asked: string[] = [];

const api = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
  (await stack.api(method, `/projects/demo${path}`, body)).body as T;
const listCalls = async () =>
  (await api<{ items: readonly CallBody[] }>("GET", "/calls?limit=500&tool_name=sleep")).items;
const listTurns = async () => (await api<{ items: readonly TurnBody[] }>("GET", "/turns?limit=500")).items;
const isOpen = ({ status }: CallBody): boolean => status === "queued" || status === "running";

const makeCalls = async (from: number, to: number): Promise<void> => {
  const items = Array.from({ length: to - from }, (_, n) => ({
    tool_name: "sleep",
    arguments: { seconds: 0.3 + (n % 10) * 0.3 },
  }));
  const { items: calls } = await api<{ items: readonly CallBody[] }>("POST", "/calls/batch", items);
  for (const call of calls) made.add(call.tool_call_id);
};

const startTeam = async (n: number): Promise<void> => {
  const turn = await api<TurnBody>("POST", `/agents/lead${n}/turns`, { instruction: `a team for task ${n}` });
  asked.push(turn.agent_turn_id);
};

const countFrom = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, n) => from + n);

/** Some have ended, and far more has just begun: more than can be done before the next look. */
const killInTheMiddle = async (): Promise<void> => {
  for (const n of countFrom(0, TEAMS)) await api("POST", "/agents", { agent_id: `lead${n}`, profile_name: "helper" });
  await Promise.all([makeCalls(0, 100), ...countFrom(0, 4).map(startTeam)]);
  while (!(await listTurns()).some(({ status }) => status === "success"));
  while (!(await listCalls()).some(({ status }) => status === "success"));
  const waves = [100, 200, 300, 400].map((from) => makeCalls(from, from + 100));
  await Promise.all([...waves, ...countFrom(4, TEAMS).map(startTeam)]);
  const open = [(await listCalls()).some(isOpen), (await listTurns()).some(({ status }) => status !== "success")];
  await stack.killAll();
  expect(open).toEqual([true, true]);
};

export const killedEverything = (bus: BusName): void => {
  beforeAll(async () => {
    // Both buses may be tried in one process, one after the other.
    made.clear();
    asked.length = 0;
    stack = await openStack({ bus });
    await killInTheMiddle();
    await stack.start();
  });
  afterAll(async () => {
    await stack[Symbol.asyncDispose]();
  });

  test("[SLICE-killed-stack] SIGKILL of the process group during 500 calls, start again: all 500 settle once", async () => {
    expect(made.size).toBe(CALLS);
    const wait = (id: string) => api<{ tool_result_card_id: string }>("GET", `/calls/${id}?wait_seconds=60`);
    const cards = await Promise.all([...made].map(wait));
    const after = await listCalls();
    expect(new Set(after.map(({ tool_call_id }) => tool_call_id))).toEqual(made);
    expect(after.filter(({ status }) => status === "success")).toHaveLength(CALLS);
    expect(new Set(cards.map(({ tool_result_card_id }) => tool_result_card_id)).size).toBe(CALLS);
  });

  test("[SLICE-killed-agents] SIGKILL of everything while teams of agents work, start again: every turn ends once", async () => {
    for (const id of asked) {
      const turn = await api<TurnBody & { deliverable: string }>("GET", `/turns/${id}?wait_seconds=60`);
      expect(turn).toMatchObject({ status: "success", deliverable: "Two readers say: 5 words, and 8 words." });
    }
    const after = await listTurns();
    expect(after).toHaveLength(TEAMS * 3);
    expect(after.filter(({ status }) => status !== "success")).toEqual([]);
    expect(new Set(after.map(({ deliverable_card_id }) => deliverable_card_id)).size).toBe(TEAMS * 3);
    for (const id of asked)
      expect(after.filter(({ parent_agent_turn_id }) => parent_agent_turn_id === id)).toHaveLength(2);
  });
};
