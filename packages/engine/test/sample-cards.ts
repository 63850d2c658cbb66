// Cards to write in tests; ids count up so that a failing one can be told from the others.

import { type Card, type JsonObject, textContent } from "@toolplane/protocol";

let made = 0;

export const sampleCard = (projectId: string, changes: Partial<Card> = {}): Card => ({
  card_id: `card-${++made}`,
  project_id: projectId,
  type: "task.context",
  content: textContent("hello"),
  created_at: "2026-01-02T03:04:05.000Z",
  author_id: "agent_a",
  metadata: { role: "user" },
  tool_calls: null,
  tool_call_id: null,
  ttl_seconds: null,
  ...changes,
});

export const sampleResult = (projectId: string, toolCallId: string, result: unknown, metadata: JsonObject = {}): Card =>
  sampleCard(projectId, {
    type: "tool.result",
    author_id: "tool.text",
    tool_call_id: toolCallId,
    content: {
      __type__: "ToolResultContent",
      status: "success",
      after_execution: "suspend",
      result: result as JsonObject,
      error: null,
    },
    metadata: { role: "tool", tool_call_id: toolCallId, function_name: "count_words", ...metadata },
  });
