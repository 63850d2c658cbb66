import { createContext } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { sha256 } from "../ports/ids.ts";
import { idempotencyKey, runKey } from "./idempotency-key.ts";

const context = (change: Record<string, unknown> = {}) =>
  createContext({ projectId: "demo", agentId: "agent_a", agentTurnId: "turn_1", toolCallId: "call_0", ...change });

test("[UTP-8.6-1] the same call gives the same key, whatever else changed", () => {
  expect(idempotencyKey(context(), "pay", sha256)).toBe(idempotencyKey(context({ turnEpoch: 9 }), "pay", sha256));
  expect(idempotencyKey(context(), "pay", sha256)).toMatch(/^tool\.demo\.pay\.[0-9a-f]{64}$/);
});

test.each([
  ["agent", { agentId: "agent_b" }],
  ["turn", { agentTurnId: "turn_2" }],
  ["call", { toolCallId: "call_1" }],
  ["project", { projectId: "other" }],
])("[UTP-8.6-1] another %s gives another key", (_name, change) => {
  expect(idempotencyKey(context(change), "pay", sha256)).not.toBe(idempotencyKey(context(), "pay", sha256));
  expect(runKey(context(change))).not.toBe(runKey(context()));
});

test("[UTP-8.6-1] parts of the identity cannot be shifted into each other", () => {
  const left = context({ agentId: "a", agentTurnId: "bc" });
  const right = context({ agentId: "ab", agentTurnId: "c" });
  expect(runKey(left)).not.toBe(runKey(right));
});
