import { codeOf } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { callerAgent } from "./caller-agent.ts";
import type { Caller } from "./route.ts";

const caller = (role: string, actorId = "sys.api") => ({ token: { role }, actorId }) as unknown as Caller;

test.each([
  ["an admin for nobody", caller("admin"), undefined, undefined],
  ["an admin for an agent", caller("admin"), "boss", "boss"],
  ["an admin for the API", caller("admin"), "sys.api", "sys.api"],
  ["a token of role agent that is bound to none", caller("agent"), undefined, undefined],
  ["an operator for an agent", caller("operator"), "boss", "boss"],
  ["a bound one that names nobody", caller("agent", "boss"), undefined, "boss"],
  ["a bound one that names itself", caller("agent", "boss"), "boss", "boss"],
])("[SEC-2-actor] %s", (_who, who, asked, expected) => {
  expect(callerAgent(who, asked)).toBe(expected);
});

test.each([
  ["a bound token for another agent", caller("agent", "boss"), "other"],
  ["a bound token for the API", caller("agent", "boss"), "sys.api"],
  ["a token that is bound to none for an agent", caller("agent"), "boss"],
  ["anybody for the project manager", caller("agent"), "sys.pmo"],
  ["an admin for a tool service", caller("admin"), "tool.text"],
])("[SEC-2-actor] %s is refused", async (_who, who, asked) => {
  expect(await codeOf((async () => callerAgent(who, asked))())).toBe("auth_failed");
});
