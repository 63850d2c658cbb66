// The right services of the corpus against the real server: what conform calls right is what works.

import { RIGHT_HABITS, RIGHT_SERVICES, startPlainService, until } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Stack, startStack } from "../cli/stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

test.each([
  ["one step", { words: 3 }],
  ["two steps", { words: 3 }],
  ["overrides after_execution in its place", { text: "one two three", __cg_control: { after_execution: "terminate" } }],
])("[API-two-steps] a right service is right on the real plane too: %s", async (name, result) => {
  const service = RIGHT_SERVICES.find((one) => one.name === name);
  const connection = { url: stack.url, token: await stack.toolToken("text"), projectId: "demo", target: "text" };
  const serving = startPlainService(service?.habits ?? RIGHT_HABITS, connection);
  await using _ = { [Symbol.asyncDispose]: () => serving.stop() };
  const isRegistered = async () => (await stack.run(["tools", "show", "count_words"])).code === 0;
  await until("the service to register its tool", isRegistered);
  const call = await stack.json("call", "count_words", '{"text": "one two three"}', "--wait", "30s");
  // The call keeps the command's word (I11); the override is in the result.
  expect(call).toMatchObject({ status: "success", result, after_execution: "suspend" });
});
