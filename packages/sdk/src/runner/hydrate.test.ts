import { createContext, type JsonObject } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { payloadOf, sampleCall, TRACE_ID } from "../../test/sample-call.ts";
import { hydrate, recoverMetadata } from "./hydrate.ts";

const { card } = sampleCall();
const context = createContext({
  projectId: "demo",
  agentId: "agent_a",
  agentTurnId: "turn_1",
  toolCallId: "call_1",
  traceId: TRACE_ID,
  stepId: "step_header",
});
const payload = payloadOf(card, "count_words") as never;
const read = (found: unknown) => hydrate({ found, context, payload, toolCallId: "call_1" });
const { __type__: _kind, ...bareContent } = card.content as unknown as JsonObject;

describe("hydrate", () => {
  test.each([
    ["as it is stored", card],
    ["as the API shows it", { ...card, content: bareContent }],
  ])("[UTP-8.4-5] arguments from the card, lineage from its metadata: %s", (_name, found) => {
    const hydrated = read(found);
    expect(hydrated.arguments).toEqual({ text: "one two three" });
    expect(hydrated.context).toMatchObject({ stepId: "step_1", parentStepId: "step_0", traceId: TRACE_ID });
  });

  test("[UTP-8.4-5] without a trace on the card the ingress trace stays", () => {
    const { trace_id: _trace, ...metadata } = card.metadata;
    expect(read({ ...card, metadata }).context.traceId).toBe(TRACE_ID);
  });

  test.each([
    ["[UTP-8.4-1] no card", undefined, "not_found"],
    ["[UTP-8.4-2] a card of another type", { ...card, type: "task.context" }, "protocol_violation"],
    ["[UTP-8.4-3] a card of another call", { ...card, tool_call_id: "call_2" }, "protocol_violation"],
    [
      "[UTP-8.4-4] content that is not a call",
      { ...card, content: { __type__: "TextContent", text: "x" } },
      "protocol_violation",
    ],
    ["[UTP-8.4-4] content of no kind", { ...card, content: { odd: 1 } }, "protocol_violation"],
    ["[UTP-8.4-4] no content at all", { ...card, content: null }, "protocol_violation"],
    ["[UTP-8.4-S1] another card than the one pointed to", { ...card, card_id: "card_9" }, "protocol_violation"],
    ["[UTP-8.4-S1] a card of another project", { ...card, project_id: "else" }, "protocol_violation"],
    [
      "[UTP-8.4-S1] a card that calls another tool",
      { ...card, content: { ...card.content, tool_name: "x" } },
      "protocol_violation",
    ],
    ["[UTP-8.4-S1] nonsense", "card", "protocol_violation"],
  ])("%s is refused", (_name, found, code) => {
    expect(() => read(found)).toThrow(expect.objectContaining({ code }));
  });
});

test.each([
  ["a tool.call card", card, card.metadata],
  ["one that is wrong elsewhere", { ...card, content: 3 }, card.metadata],
  ["another type", { ...card, type: "x" }, undefined],
  ["nonsense", 3, undefined],
])("[UTP-8.3-11] lineage that can be recovered from %s", (_name, found, metadata) => {
  expect(recoverMetadata(found)).toEqual(metadata);
});
