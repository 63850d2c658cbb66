// Calls inside turns: whose turn it is decides.

import type { Engine } from "@toolplane/engine";
import { codeOf } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { checkMayCancel, checkMaySeeCall } from "./own-work.ts";
import type { Caller } from "./route.ts";

const caller = (role: string, actorId = "sys.api") => ({ token: { role }, actorId }) as unknown as Caller;
/** Bob's turn, which Ann's agent asked the project manager for. */
const turn = { agentId: "bob", sourceAgentId: "sys.pmo", parentAgentId: "ann" };
const engine = { turns: { get: async () => turn } } as unknown as Engine;
const call = { projectId: "p", toolCallId: "c", agentId: "bob", agentTurnId: "t", headless: false };

test.each([
  ["who does it", caller("agent", "bob")],
  ["who asked for it", caller("agent", "ann")],
  ["an operator", caller("operator")],
])("[SEC-2-own] a call of a turn is canceled by %s", async (_who, who) => {
  await expect(checkMayCancel(engine, who, call)).resolves.toBeUndefined();
});

test.each([
  ["another agent", caller("agent", "carl")],
  ["a token that speaks for no agent", caller("agent")],
])("[SEC-2-own] a call of a turn is not canceled by %s", async (_who, who) => {
  expect(await codeOf(checkMayCancel(engine, who, call))).toBe("auth_failed");
});

test("[SEC-2-own] a call whose turn is gone belongs to its agent alone", async () => {
  const gone = { turns: { get: async () => undefined } } as unknown as Engine;
  expect(await codeOf(checkMaySeeCall(gone, caller("agent", "ann"), call))).toBe("auth_failed");
  await expect(checkMaySeeCall(gone, caller("agent", "bob"), call)).resolves.toBeUndefined();
  await expect(checkMaySeeCall(gone, caller("agent"), call)).resolves.toBeUndefined();
});
