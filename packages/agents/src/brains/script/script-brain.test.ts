import type { ModelMessage } from "@toolplane/protocol/agents";
import { describe, expect, test } from "vitest";
import { testRequest } from "../../../test/brain-request.ts";
import { fence } from "../../transcript/fence.ts";
import { defineScript } from "./script.ts";
import { createScriptBrain } from "./script-brain.ts";
import { parseScriptYaml } from "./script-yaml.ts";

const YAML = `
name: counter
steps:
  - say: Counting.
    call:
      - { tool: count_words, arguments: { text: "{{instruction}}", nested: { list: ["{{step}}"] } } }
      - { tool: echo, as: greeting, arguments: { text: "hello {{agent_id}}" } }
  - when: { failed: greeting }
    finish: "No greeting: {{results.greeting.error.code}}"
  - finish: "{{results.count_words.words}} words, {{results.greeting.text ?? nothing}}"
`;

const assistant = (calls: readonly [id: string, name: string][]): ModelMessage => ({
  role: "assistant",
  content: "",
  tool_calls: calls.map(([id, name]) => ({ id, type: "function", function: { name, arguments: "{}" } })),
});
const tool = (id: string, value: unknown): ModelMessage => ({
  role: "tool",
  tool_call_id: id,
  content: typeof value === "string" ? value : JSON.stringify(value),
});
const user: ModelMessage = { role: "user", content: "one two" };

describe("a script", () => {
  const brain = createScriptBrain(parseScriptYaml(YAML, "counter.yaml"));

  test("[ARCH-9-S1] its first step calls tools with values from the instruction, in their types", async () => {
    const { request, pieces } = testRequest({ messages: [user] });
    expect(await brain.think(request)).toEqual({
      text: "Counting.",
      model: "script/counter",
      toolCalls: [
        { name: "count_words", arguments: { text: "one two", nested: { list: [1] } } },
        { name: "echo", arguments: { text: "hello ann" } },
      ],
    });
    expect(
      pieces
        .filter(({ kind }) => kind === "content")
        .map(({ text }) => text)
        .join(""),
    ).toBe("Counting.");
  });

  test.each([
    ["both answered", tool("b", { text: "hi" }), "2 words, hi"],
    ["a fenced answer", tool("b", fence('{"text":"hi"}', "abcdef", { tool: "echo", source: "http" })), "2 words, hi"],
    ["one failed", tool("b", { error: { code: "tool_error", message: "no" } }), "No greeting: tool_error"],
    ["an answer without the value", tool("b", { other: 1 }), "2 words, nothing"],
  ])("[ARCH-9-S2] the next step follows from the results: %s", async (_name, second, text) => {
    const messages = [
      { role: "assistant", content: "from before" },
      user,
      assistant([
        ["a", "count_words"],
        ["b", "echo"],
      ]),
      second,
      tool("a", { words: 2 }),
    ];
    const { request } = testRequest({ messages, stepNumber: 2 });
    expect(await brain.think(request)).toMatchObject({ text, toolCalls: [] });
  });

  test("[ARCH-9-S3] the same transcript gives the same answer, from any brain of the script", async () => {
    const { request } = testRequest({ messages: [user] });
    const other = createScriptBrain(parseScriptYaml(YAML, "counter.yaml"));
    expect(await other.think(request)).toEqual(await brain.think(request));
  });

  test("[ARCH-9-S4] past its end it says so, and what is missing is named with its line", async () => {
    const end = testRequest({ messages: [user], stepNumber: 5 });
    await expect(brain.think(end.request)).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("finish or submit"),
    });
    const gap = testRequest({ messages: [user, assistant([["a", "count_words"]])], stepNumber: 2 });
    await expect(brain.think(gap.request)).rejects.toMatchObject({
      code: "bad_request",
      message: "counter.yaml:10: {{results.count_words.words}} has no value here",
    });
  });

  test.each([
    [{ code: "not_found", message: "there is no tool count_words" }, "not_found: there is no tool count_words"],
    ["not_found: no such tool", "not_found: no such tool"],
  ])("[ARCH-9-S4] what is missing because its call failed is told with the reason: %j", async (error, reason) => {
    const messages = [user, assistant([["a", "count_words"]]), tool("a", JSON.stringify({ error }))];
    await expect(brain.think(testRequest({ messages, stepNumber: 2 }).request)).rejects.toMatchObject({
      code: "bad_request",
      message: `counter.yaml:10: {{results.count_words.words}} has no value here: count_words failed with ${reason}`,
    });
  });
});

test("[ARCH-9-S5] a case is chosen by the instruction", async () => {
  const brain = createScriptBrain(
    parseScriptYaml(
      "cases:\n  - match: [HELLO, hi there]\n    steps: [{ finish: hello }]\n  - match: bye\n    steps: [{ submit: { word: bye } }]\n",
      "talk",
    ),
  );
  const ask = (content: string) => brain.think(testRequest({ messages: [{ role: "user", content }] }).request);
  expect((await ask("say Hello")).text).toBe("hello");
  expect((await ask("BYE")).toolCalls).toEqual([{ name: "submit_result", arguments: { result: { word: "bye" } } }]);
  await expect(ask("what")).rejects.toMatchObject({ message: expect.stringContaining("no case matches") });
});

test("[ARCH-9-S6] steps in TypeScript compute from what has happened", async () => {
  const script = defineScript({
    name: "ts",
    steps: [
      { call: (view) => [1, 2].map((n) => ({ tool: "echo", as: `e${n}`, arguments: { n, of: view.instruction } })) },
      { when: (view) => view.result("e2")?.failed === true, finish: "never" },
      { finish: (view) => JSON.stringify(view.results.map(({ name, value }) => [name, value])) },
    ],
  });
  const brain = createScriptBrain(script);
  expect((await brain.think(testRequest({ messages: [user] }).request)).toolCalls).toEqual([
    { name: "echo", arguments: { n: 1, of: "one two" } },
    { name: "echo", arguments: { n: 2, of: "one two" } },
  ]);
  const messages = [
    user,
    assistant([
      ["x", "echo"],
      ["y", "echo"],
    ]),
    tool("x", "first"),
    tool("y", 2),
  ];
  expect((await brain.think(testRequest({ messages, stepNumber: 2 }).request)).text).toBe('[["e1","first"],["e2",2]]');
});

test("[ARCH-9-S7] it fails and hangs when it is told to, and stops when it is stopped", async () => {
  const brain = createScriptBrain(
    parseScriptYaml(
      "cases:\n  - match: fail\n    steps: [{ fail: { code: rate_limited, message: slow down } }]\n  - steps: [{ hang: true }]\n",
      "bad",
    ),
  );
  const ask = (content: string) => testRequest({ messages: [{ role: "user", content }] });
  await expect(brain.think(ask("fail").request)).rejects.toMatchObject({ code: "rate_limited", message: "slow down" });
  const hanging = ask("wait");
  const answer = brain.think(hanging.request);
  hanging.stop.abort();
  await expect(answer).rejects.toMatchObject({ code: "canceled" });
  await expect(brain.think(hanging.request)).rejects.toMatchObject({ code: "canceled" });
});

test("[ARCH-9-S8] a text as arguments is passed on as a model would have written it", async () => {
  const brain = createScriptBrain(
    parseScriptYaml("steps: [{ call: { tool: echo, arguments: '{bad' , id: call_0 } }]", "bad"),
  );
  expect((await brain.think(testRequest().request)).toolCalls).toEqual([
    { id: "call_0", name: "echo", arguments: "{bad" },
  ]);
});

describe("a bad script is refused with its line", () => {
  test.each([
    ["not YAML", "steps: [", "s.yaml:1"],
    ["no steps", "name: x\n", "s.yaml:1: write either steps or cases"],
    ["an unknown key", "steps:\n  - finish: a\n    finnish: b\n", "s.yaml:3: unknown key finnish"],
    [
      "two acts",
      "steps:\n  - finish: a\n    call: { tool: x }\n",
      "s.yaml:2: a step does one thing, not call and finish",
    ],
    ["no act", "steps:\n  - reasoning: hm\n", "s.yaml:2: a step needs one of"],
    ["an unknown value", "steps:\n  - finish: a\n  - finish: '{{result.x}}'\n", "s.yaml:3: {{result}} is unknown"],
    [
      "a deep unknown value",
      "steps:\n  - call:\n      tool: x\n      arguments:\n        a: ['{{nope}}']\n",
      "s.yaml:5",
    ],
    ["a wrong tool name", "steps:\n  - call:\n      tool: a b\n", "s.yaml:3"],
    ["a tag", "steps: !!set [{ finish: a }]", "s.yaml:1"],
    ["a code that does not exist", "steps:\n  - fail: { code: oops }\n", "s.yaml:2: not an error code"],
    ["nested beyond reading", "[".repeat(100_000), "s.yaml"],
    ["doubled keys", "steps:\n  - finish: a\n    finish: b\n", "s.yaml:3"],
  ])("[ARCH-9-S9] %s", (_name, yaml, message) => {
    expect(() => parseScriptYaml(yaml, "s.yaml")).toThrow(
      expect.objectContaining({ code: "bad_request", message: expect.stringContaining(message) }),
    );
  });
});
