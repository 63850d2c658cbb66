import { ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { testRequest } from "../../test/brain-request.ts";
import { createTestClock } from "../../test/test-clock.ts";
import type { BrainRequest } from "./brain.ts";
import { createBrainSource } from "./brain-source.ts";
import { type BrainFunction, createFunctionBrain } from "./function-brain.ts";
import { defineScript } from "./script/script.ts";

const source = createBrainSource({
  clock: createTestClock(),
  secret: () => undefined,
  scripts: new Map([["greet", defineScript({ name: "greet", steps: [{ finish: "hello" }] })]]),
  functions: new Map<string, BrainFunction>([["mine", ({ stepNumber }) => `step ${stepNumber}`]]),
});
const ask = async (config: object) => {
  const { request } = testRequest({}, config);
  return (await (await source(request.profile)).think(request)).text;
};

describe("the brain of a profile", () => {
  test.each([
    ["a script by its model", { model: "script/greet" }, "hello"],
    ["a script by its provider", { provider: "script", model: "greet" }, "hello"],
    ["a script by its own key", { provider: "script", script: "greet" }, "hello"],
    ["a script in the profile itself", { provider: "script", script: { steps: [{ finish: "inline" }] } }, "inline"],
    ["a function by its model", { model: "function/mine" }, "step 1"],
    ["a function by its provider", { provider: "function", function: "mine" }, "step 1"],
  ])("[ARCH-9-B1] %s", async (_name, config, text) => {
    expect(await ask(config)).toBe(text);
  });

  test.each([
    [
      "a script that is not there",
      { model: "script/nope" },
      "not_found",
      'the script "nope", which is not there (known: greet)',
    ],
    ["a function that is not there", { model: "function/nope" }, "not_found", "(known: mine)"],
    [
      "a bad script in the profile",
      { provider: "script", script: { steps: [{ sing: 1 }] } },
      "bad_request",
      "unknown key sing",
    ],
    ["a model nobody knows", { model: "llama" }, "bad_request", "no provider is known"],
  ])("[ARCH-9-B1] %s is refused in one sentence", async (_name, config, code, words) => {
    await expect(ask(config)).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
  });
});

test("[ARCH-9-B1] scripts of many profiles stay apart", async () => {
  for (let n = 0; n < 600; n++) {
    const config = (text: string) => ({ provider: "script", script: { steps: [{ finish: text }] } });
    expect(await ask(config(`answer ${n % 300}`))).toBe(`answer ${n % 300}`);
  }
});

describe("a function", () => {
  const think = (run: BrainFunction, request: BrainRequest = testRequest().request) =>
    createFunctionBrain(run, "f").think(request);

  test.each<[string, BrainFunction, object]>([
    ["a text", async () => "hi", { text: "hi", toolCalls: [], model: "function/f" }],
    [
      "calls",
      () => ({ toolCalls: [{ name: "echo", arguments: {} }] }),
      { text: "", toolCalls: [{ name: "echo", arguments: {} }], model: "function/f" },
    ],
    [
      "everything",
      () => ({ text: "t", reasoning: "r", cost: 1, usage: { n: 1 }, model: "m" }),
      { text: "t", toolCalls: [], reasoning: "r", cost: 1, usage: { n: 1 }, model: "m" },
    ],
  ])("[ARCH-9-F1] returns %s", async (_name, run, answer) => {
    expect(await think(run)).toEqual(answer);
  });

  test.each<[string, BrainFunction, string]>([
    ["an error of ours", () => Promise.reject(new ToolplaneError("rate_limited", "later")), "rate_limited"],
    ["any error, without its words", () => Promise.reject(new TypeError("secret words")), "internal_error"],
    ["nothing", () => undefined as never, "bad_request"],
    ["no list of calls", () => ({ toolCalls: "x" }) as never, "bad_request"],
  ])("[ARCH-9-F1] fails with %s", async (_name, run, code) => {
    const error = await think(run).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolplaneError);
    expect((error as ToolplaneError).code).toBe(code);
    expect((error as ToolplaneError).message).not.toContain("secret words");
  });

  test("[ARCH-9-F1] that does not listen is left behind when the step is stopped", async () => {
    const { request, stop } = testRequest();
    const answer = think(() => new Promise<string>(() => {}), request);
    stop.abort();
    await expect(answer).rejects.toMatchObject({ code: "canceled" });
    await expect(think(() => "late", request)).rejects.toMatchObject({ code: "canceled" });
  });
});
