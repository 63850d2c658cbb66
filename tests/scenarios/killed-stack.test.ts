// The whole process group is killed during 500 calls; the next start needs no hand, and all 500 settle once.

import { expect, test } from "vitest";
import { openStack, type Stack } from "./stack.ts";

const CALLS = 500;

interface CallBody {
  readonly tool_call_id: string;
  readonly status: string;
}

const listAll = async (stack: Stack): Promise<readonly CallBody[]> => {
  const { body } = await stack.api("GET", "/projects/demo/calls?limit=500");
  return (body as { items: readonly CallBody[] }).items;
};

const isOpen = ({ status }: CallBody): boolean => status === "queued" || status === "running";

test("[SLICE-killed-stack] SIGKILL of the process group during 500 calls, start again: all 500 settle once", async () => {
  await using stack = await openStack();
  const items = Array.from({ length: CALLS }, (_, n) => ({
    tool_name: "sleep",
    arguments: { seconds: 0.2 + (n % 10) / 20 },
  }));
  const made = new Set<string>();
  for (let from = 0; from < CALLS; from += 100) {
    const { body } = await stack.api("POST", "/projects/demo/calls/batch", items.slice(from, from + 100));
    for (const call of (body as { items: readonly CallBody[] }).items) made.add(call.tool_call_id);
  }
  expect(made.size).toBe(CALLS);
  let before = await listAll(stack);
  while (!before.some(({ status }) => status === "success")) before = await listAll(stack);
  expect(before.filter(isOpen).length).toBeGreaterThan(0);
  await stack.killAll();

  await stack.start();
  for (const id of made) await stack.api("GET", `/projects/demo/calls/${id}?wait_seconds=60`);
  const after = await listAll(stack);
  expect(new Set(after.map(({ tool_call_id }) => tool_call_id))).toEqual(made);
  expect(after.filter(({ status }) => status === "success")).toHaveLength(CALLS);
  const cards = await Promise.all(
    [...made].map(async (id) => (await stack.api("GET", `/projects/demo/calls/${id}`)).body),
  );
  expect(new Set(cards.map((body) => (body as { tool_result_card_id: string }).tool_result_card_id)).size).toBe(CALLS);
});
