// Results no tool should give, to a tool that ends its turn and to one that does not. Whatever it is, the turn goes on or
// ends by it, and what is said about it everywhere stays small.

import { resultFor } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addAgent, advance, call, commit, events, startTurnWorld, type TurnWorld, takeTurn } from "./turn-world.ts";

const LONG = "x".repeat(20_000);

let t: TurnWorld;
beforeAll(async () => {
  t = await startTurnWorld();
});
afterAll(() => t[Symbol.asyncDispose]());

test.each<[string, object, string | null]>([
  ["a long code and a long sentence", { status: "failed", error: { code: LONG, message: LONG } }, LONG.slice(0, 128)],
  ["no error where one belongs", { status: "failed", error: null }, "unknown_error"],
  ["a code that is not text", { status: "failed", error: { code: { a: 1 }, message: 5 } }, "tool_error"],
  ["a status nobody knows", { status: "done" }, "invalid_status"],
  ["more than it may be", { result: "y".repeat(3_000_000) }, "result_too_large"],
  ["what cannot be stored", { result: { a: "\u0000" } }, "result_not_serializable"],
])("[UTP-7.5-T9] %s", async (name, given, code) => {
  const agents = ["ender", "safe"].map((tool) => ({ tool, agentId: `${tool}_${name.replaceAll(" ", "_")}` }));
  for (const { tool, agentId } of agents) {
    await addAgent(t, agentId);
    const work = await takeTurn(t, { agentId });
    await commit(t, work, call(tool));
    const [leased] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 });
    if (leased === undefined) expect.unreachable("there is a call");
    await t.engine.calls.settle(resultFor(leased, given));
    const { work: next, ended } = await advance(t, agentId);
    if (tool === "safe") expect(next).toMatchObject({ turnEpoch: 2 });
    else expect(ended).toMatchObject({ status: code === null ? "success" : "failed", errorCode: code });
  }
  for (const { payload } of await events(t, "task")) expect(JSON.stringify(payload).length).toBeLessThan(10_000);
});
