// Limited tools of one target by the hundred: those whose gates are closed do not hide the others.

import { resultFor, startTestEngine, type TestEngine, toolUpload } from "@toolplane/testkit";
import { expect, test } from "vitest";

/** More than a claim looks at together. */
const MANY = 300;

const register = (t: TestEngine, names: readonly string[], options: Record<string, unknown>) =>
  t.engine.tools.upsertTools(
    t.projectId,
    names.map((name) => toolUpload({ name, target: "crowd", options })),
  );

const namesOf = (count: number) => Array.from({ length: count }, (_, n) => `tool_${String(n).padStart(3, "0")}`);

const ask = (t: TestEngine, toolName: string) =>
  t.engine.calls.dispatch({ projectId: t.projectId, toolName, arguments: {} });

/** The tools of the calls that one claim took; they end at once. */
const serve = async (t: TestEngine, max: number): Promise<readonly string[]> => {
  const calls = await t.engine.calls.claim({ projectId: t.projectId, target: "crowd", holder: "holder", max });
  await Promise.all(calls.map((call) => t.engine.calls.settle(resultFor(call))));
  return calls.map(({ facts }) => facts.toolName);
};

test("[LIM-gates-1] a tool runs however many closed gates of its target come before its own, and after them", async () => {
  await using t = await startTestEngine({ tools: [] });
  const slow = namesOf(MANY);
  await register(t, slow, { rate: { limit: 1, per_seconds: 3_600 } });
  await register(t, ["aaa", "zzz"], { concurrency: 5 });
  await Promise.all([...slow, ...slow].map((name) => ask(t, name)));
  const ran: string[] = [];
  for (let more = await serve(t, 99); more.length > 0; more = await serve(t, 99)) ran.push(...more);
  expect(ran.sort()).toEqual(slow);
  await ask(t, "zzz");
  expect(await serve(t, 10)).toEqual(["zzz"]);
  await ask(t, "aaa");
  expect(await serve(t, 10)).toEqual(["aaa"]);
  expect(await serve(t, 10)).toEqual([]);
});

test("[LIM-gates-1] when all gates are open, every tool has its turn before any has a second one", async () => {
  await using t = await startTestEngine({ tools: [] });
  const names = namesOf(MANY);
  await register(t, names, { concurrency: 1 });
  await Promise.all([...names, ...names].map((name) => ask(t, name)));
  const first = [...(await serve(t, 100)), ...(await serve(t, 100)), ...(await serve(t, 100))];
  expect(first.sort()).toEqual(names);
});
