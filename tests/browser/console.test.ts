// The console against the real stack: one server, one browser. Starting them costs as much as many of the tests, so all share them.

import { afterAll, beforeAll } from "vitest";
import { type ConsoleStack, startConsole } from "./console-stack.ts";
import { personTests } from "./person.contract.ts";
import { safetyTests } from "./safety.contract.ts";

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await startConsole();
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

personTests(() => stack);
safetyTests(() => stack);
