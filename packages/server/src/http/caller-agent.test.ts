import { codeOf } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { callerAgent } from "./caller-agent.ts";
import type { Caller } from "./route.ts";

const caller = (role: string, actorId = "sys.api") => ({ token: { role }, actorId }) as unknown as Caller;

test.each([
  ["an admin for nobody", caller("admin"), undefined, undefined],
  ["an admin for an agent", caller("admin"), "boss", "boss"],
  ["an admin for the API", caller("admin"), "sys.api", "sys.api"],
  ["a token of role agent that is bound to none", caller("agent", "sys.token_1"), undefined, "sys.token_1"],
  ["one that names itself, as a further round does", caller("agent", "sys.token_1"), "sys.token_1", "sys.token_1"],
  ["an operator for an agent", caller("operator"), "boss", "boss"],
  ["a bound one that names nobody", caller("agent", "boss"), undefined, "boss"],
  ["a bound one that names itself", caller("agent", "boss"), "boss", "boss"],
])("[SEC-2-actor] %s", (_who, who, asked, expected) => {
  expect(callerAgent(who, asked)).toBe(expected);
});

test.each([
  ["a bound token for another agent", caller("agent", "boss"), "other"],
  ["a bound token for the API", caller("agent", "boss"), "sys.api"],
  ["a token that is bound to none for an agent", caller("agent", "sys.token_1"), "boss"],
  ["a token that is bound to none for the API", caller("agent", "sys.token_1"), "sys.api"],
  ["a token that is bound to none for another such token", caller("agent", "sys.token_1"), "sys.token_2"],
  ["an admin for such a token", caller("admin"), "sys.token_1"],
  ["anybody for the project manager", caller("agent"), "sys.pmo"],
  ["an admin for a tool service", caller("admin"), "tool.text"],
])("[SEC-2-actor] %s is refused", async (_who, who, asked) => {
  expect(await codeOf((async () => callerAgent(who, asked))())).toBe("auth_failed");
});
