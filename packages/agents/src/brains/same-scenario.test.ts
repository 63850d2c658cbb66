import { parseAllowedOrigin } from "@toolplane/egress/policy";
import type { JsonValue } from "@toolplane/protocol";
import type { ModelMessage } from "@toolplane/protocol/agents";
import { answerByBrain, startModelServer } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { testRequest } from "../../test/brain-request.ts";
import { createTestClock } from "../../test/test-clock.ts";
import { fence } from "../transcript/fence.ts";
import { planToolCalls, thoughtToolCalls } from "../transcript/tool-calls.ts";
import type { Brain, BrainAnswer } from "./brain.ts";
import { createBrainSource } from "./brain-source.ts";
import { createScriptBrain } from "./script/script-brain.ts";
import { parseScriptYaml } from "./script/script-yaml.ts";

const SCRIPT = parseScriptYaml(
  `
name: scenario
steps:
  - say: Three at once.
    call:
      - { tool: count_words, arguments: { text: "{{instruction}}" } }
      - { tool: echo, as: first, arguments: { text: one } }
      - { tool: echo, as: second, arguments: { text: two } }
  - call: { tool: delegate_async, arguments: { instruction: "say {{results.first.text}} {{results.count_words.words}}" } }
  - when: { failed: delegate_async }
    call: { tool: echo, as: retry, arguments: { text: "{{results.delegate_async.error.code}}" } }
  - submit: { words: "{{results.count_words.words}}", all: "{{all.echo}}" }
`,
  "scenario.yaml",
);

const TOOLS = ["count_words", "echo", "delegate_async", "submit_result"].map((name) => ({
  type: "function" as const,
  function: { name, description: name, parameters: { type: "object" } },
}));

/** What the tools of the scenario answer, some of them from outside. */
const runTool = (name: string, args: { text?: string }): string => {
  if (name === "count_words") return JSON.stringify({ words: args.text?.split(" ").length ?? 0 });
  if (name === "delegate_async") return JSON.stringify({ error: { code: "tool_timeout", message: "late" } });
  return fence(JSON.stringify({ text: args.text ?? null }), "0123456789abcdef0123", { tool: name, source: "host" });
};

/** A turn without an engine: steps until an answer submits or has no calls. */
const playTurn = async (brain: Brain): Promise<readonly BrainAnswer[]> => {
  const messages: ModelMessage[] = [{ role: "user", content: "alpha beta gamma" }];
  const answers: BrainAnswer[] = [];
  for (let stepNumber = 1; stepNumber <= 8; stepNumber++) {
    const note: ModelMessage[] = stepNumber === 3 ? [{ role: "system", content: "Two steps are left." }] : [];
    const { request } = testRequest({ messages: [...messages, ...note], stepNumber, tools: TOOLS });
    const answer = await brain.think(request);
    answers.push(answer);
    const calls = planToolCalls(answer.toolCalls, stepNumber);
    messages.push({ role: "assistant", content: answer.text, tool_calls: thoughtToolCalls(calls) });
    for (const { id, name, arguments: args } of calls) {
      messages.push({ role: "tool", tool_call_id: id, content: runTool(name, args as { text?: string }) });
    }
    if (calls.length === 0 || calls[0]?.name === "submit_result") return answers;
  }
  return answers;
};

const said = (answers: readonly BrainAnswer[]) =>
  answers.map(({ text, toolCalls }) => ({
    text,
    calls: toolCalls.map(({ name, arguments: args }) => ({ name, args })),
  }));

test.each([true, false])(
  "[ARCH-9-B2] a scenario is the same directly and through the ai SDK (stream: %s)",
  async (stream) => {
    const direct = await playTurn(createScriptBrain(SCRIPT));
    await using server = await startModelServer(answerByBrain(() => createScriptBrain(SCRIPT)));
    const source = createBrainSource({
      clock: createTestClock(),
      secret: () => undefined,
      allowOrigins: [parseAllowedOrigin(server.origin)],
    });
    const { profile } = testRequest({}, { model: "scenario", api_base: server.url, stream }).request;
    const throughSdk = await playTurn(await source(profile));
    expect(said(throughSdk)).toEqual(said(direct));
    expect(direct).toHaveLength(4);
    const expected: JsonValue = { words: 3, all: [{ text: "one" }, { text: "two" }, { text: "tool_timeout" }] };
    expect(direct.at(-1)?.toolCalls).toEqual([{ name: "submit_result", arguments: { result: expected } }]);
  },
);
