// The cards of a turn as tests write them: short to say, whole as the engine would store them.

import {
  type Card,
  createToolCallCard,
  createToolResultCard,
  type JsonObject,
  type JsonValue,
} from "@toolplane/protocol";
import { createInstructionCard, createThoughtCard } from "@toolplane/protocol/agents";

export const TURN = "turn_1";
export const AGENT = "ann";

const origin = (cardId: string, authorId: string) => ({
  cardId,
  projectId: "p1",
  createdAt: "2026-01-01T00:00:00.000Z",
  authorId,
});

export const instruction = (cardId: string, text = "Do it."): Card =>
  createInstructionCard({ ...origin(cardId, "api"), text });

export const entry = (id: string, name: string, args = "{}"): JsonObject => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

export const thought = (cardId: string, toolCalls: readonly JsonObject[], text = "", turn = TURN): Card =>
  createThoughtCard({ ...origin(cardId, AGENT), agentTurnId: turn, text, toolCalls });

export const call = (toolCallId: string, providerToolCallId: string, toolName = "echo"): Card =>
  createToolCallCard({
    ...origin(`card-of-${toolCallId}`, AGENT),
    agentTurnId: TURN,
    toolCallId,
    toolName,
    arguments: {},
    providerToolCallId,
  });

export interface SampleResult {
  readonly cardId?: string;
  readonly toolName?: string;
  readonly author?: string;
  readonly result?: JsonValue;
  readonly error?: JsonObject;
  readonly extra?: JsonObject;
}

export const result = (toolCallId: string, given: SampleResult = {}): Card =>
  createToolResultCard({
    ...origin(given.cardId ?? `result-of-${toolCallId}`, given.author ?? "tool.text"),
    extra: given.extra,
    agentTurnId: TURN,
    toolCallId,
    functionName: given.toolName ?? "echo",
    content: {
      __type__: "ToolResultContent",
      status: given.error === undefined ? "success" : "failed",
      after_execution: "suspend",
      result: given.result ?? null,
      error: given.error ?? null,
    },
  });
