// Answers no model should give. Whatever it is, every call of it has one result, the model is told and may go on, and what
// it is shown of itself is something every provider takes back.

import type { BrainRequest, FunctionAnswer } from "@toolplane/agents";
import { expect, test } from "vitest";
import { openAgentPlane } from "./support/agent-plane.ts";

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const echo = (args: unknown, id?: string) => ({ id, name: "echo", arguments: args });
const named = (name: unknown) => ({ name, arguments: {} });

/** What a brain says first, and what becomes of its calls. */
const HOSTILE: Readonly<Record<string, readonly [answer: unknown, results: Readonly<Record<string, number>>]>> = {
  same_ids: [{ toolCalls: many(5, (i) => echo({ text: `${i}` }, "same")) }, { success: 5 }],
  ids_alike: [{ toolCalls: ["a\u0000", "a\ufffd", "a\n"].map((id) => echo({ text: id[0] }, id)) }, { success: 3 }],
  a_thousand_calls: [
    { toolCalls: many(1_000, (i) => echo({ text: `${i}` }, `c${i % 7}`)) },
    { success: 64, bad_request: 192 },
  ],
  no_json: [
    { toolCalls: ["{", "[1]", "null", '{"text":"\\ud800"}', '{"text":1e999}', "[".repeat(9_999)].map((a) => echo(a)) },
    { bad_request: 6 },
  ],
  odd_names: [
    {
      toolCalls: ["\u001b[31mecho", "ec\u0000ho", "functions.echo", "echo<|x|>", "\ud800", "x".repeat(9_999)].map(
        named,
      ),
    },
    { auth_failed: 6 },
  ],
  names_of_objects: [{ toolCalls: ["__proto__", "constructor", "toString"].map(named) }, { auth_failed: 3 }],
  no_calls: [{ toolCalls: [null, 1, "x", [], {}, named({}), named(""), echo({ text: "x" })] }, { success: 1 }],
  one_large_call: [{ toolCalls: [echo({ text: "x".repeat(2_000_000) })] }, { payload_too_large: 1 }],
  large_calls: [{ toolCalls: many(64, () => echo({ text: '"'.repeat(10_000) })) }, { success: 64 }],
  long_reasoning: [{ reasoning: "\u0001".repeat(2_000_000), toolCalls: [echo({ text: "x" })] }, { success: 1 }],
  large_counts: [
    { usage: { a: "x".repeat(99_999) }, model: "m".repeat(99_999), toolCalls: [echo({ text: "x" })] },
    { success: 1 },
  ],
  large_submission: [
    { toolCalls: [{ name: "submit_result", arguments: { result: "x".repeat(2_000_000) } }] },
    { bad_request: 1 },
  ],
};

const PROVIDERS_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const shownCalls = ({ messages }: BrainRequest): readonly { readonly id: string; readonly name: string }[] =>
  messages.flatMap((message) =>
    "tool_calls" in message
      ? message.tool_calls.map((call) => ({
          id: String(call.id),
          name: String((call.function as { readonly name?: unknown }).name),
        }))
      : [],
  );

test("[UTP-W35-T2] [UTP-W03] [UTP-10.3-3] no answer of a model is a reason to end its turn", async () => {
  await using plane = await openAgentPlane({
    profile: { allowed_internal_tools: ["submit_result"] },
  });
  const agents = Object.keys(HOSTILE);
  await plane.agents(...agents);
  const shown = new Map<string, ReturnType<typeof shownCalls>>();
  await plane.startWorker((request) => {
    if (request.stepNumber === 1) return HOSTILE[request.agentId]?.[0] as FunctionAnswer;
    shown.set(request.agentId, shownCalls(request));
    return "went on";
  });
  const turns = await Promise.all(agents.map((agentId) => plane.spawn(agentId, "go")));
  for (const [index, turn] of turns.entries()) {
    const agentId = agents[index] ?? "";
    expect(await plane.ended(turn), agentId).toMatchObject({ status: "success", stepCount: 2 });
    const results: Record<string, number> = {};
    for (const { content } of await plane.outputOf(turn)) {
      if (content.__type__ !== "ToolResultContent") continue;
      const word = String((content.error as { readonly code?: unknown } | null)?.code ?? content.status);
      results[word] = (results[word] ?? 0) + 1;
    }
    expect(results, agentId).toEqual(HOSTILE[agentId]?.[1]);
    const calls = shown.get(agentId) ?? [];
    expect(new Set(calls.map(({ id }) => id)).size, agentId).toBe(calls.length);
    expect(
      calls.filter(({ name }) => !PROVIDERS_NAME.test(name)),
      agentId,
    ).toEqual([]);
  }
});
