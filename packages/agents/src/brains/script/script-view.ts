// What a script can see: the instruction, and the rounds of this turn with their calls and results, read from the messages.

import { isRecord, type JsonValue, tryParseJsonStrict } from "@toolplane/protocol";
import type { AssistantMessage, ModelMessage } from "@toolplane/protocol/agents";
import { unfence } from "../../transcript/fence.ts";
import { NOTE_PREFIX, STRAY_PREFIX } from "../../transcript/step-notes.ts";
import { readToolCall } from "../../transcript/tool-calls.ts";
import type { BrainRequest } from "../brain.ts";
import type { TemplateScope } from "./script-template.ts";

export interface ScriptResult {
  /** The tool's name, or the `as` of the call. */
  readonly name: string;
  readonly tool: string;
  readonly failed: boolean;
  /** JSON where the result is JSON, else its text; for a failure `{error}`, with a partial result as `result`. */
  readonly value: JsonValue;
}

export interface ScriptView {
  readonly instruction: string;
  /** 1 for the first. */
  readonly step: number;
  readonly agentId: string;
  /** Of the steps before this one, oldest first. */
  readonly results: readonly ScriptResult[];
  /** The newest result of a name. */
  result(name: string): ScriptResult | undefined;
}

/** One earlier step: the calls it made, with their results. */
export type Round = readonly Omit<ScriptResult, "name">[];

const isAssistant = (message: ModelMessage): message is AssistantMessage => message.role === "assistant";

const readResult = (tool: string, shown: string): Round[number] => {
  const text = unfence(shown);
  const value = tryParseJsonStrict(text) ?? text;
  const isFailure = isRecord(value) && Object.hasOwn(value, "error");
  return { tool, value, failed: isFailure && Object.keys(value).every((key) => key === "error" || key === "result") };
};

const readRound = (messages: readonly ModelMessage[], at: number): Round => {
  const message = messages[at];
  if (message === undefined || !("tool_calls" in message)) return [];
  const next = messages.findIndex((other, index) => index > at && isAssistant(other));
  const answers = messages.slice(at + 1, next < 0 ? messages.length : next);
  return message.tool_calls.map(readToolCall).flatMap(({ id, name }) => {
    const answer = answers.find((other) => "tool_call_id" in other && other.tool_call_id === id);
    return answer === undefined ? [] : [readResult(name, answer.content)];
  });
};

const isInstruction = ({ role, content }: ModelMessage): boolean =>
  role === "user" && !content.startsWith(NOTE_PREFIX) && !content.startsWith(STRAY_PREFIX);

export interface Reading {
  readonly instruction: string;
  /** One for every step before this one. */
  readonly rounds: readonly Round[];
}

/** This turn's messages are the last assistant messages, one for each step it has made; the messages before are its context. */
export const readTranscript = ({ messages, stepNumber }: Pick<BrainRequest, "messages" | "stepNumber">): Reading => {
  const assistants = messages.flatMap((message, index) => (isAssistant(message) ? [index] : []));
  const own = stepNumber <= 1 ? [] : assistants.slice(-(stepNumber - 1));
  const before = messages.slice(0, own[0] ?? messages.length);
  return {
    instruction: before.findLast(isInstruction)?.content ?? "",
    rounds: own.map((at) => readRound(messages, at)),
  };
};

export const createView = (
  request: Pick<BrainRequest, "agentId">,
  instruction: string,
  step: number,
  results: readonly ScriptResult[],
): ScriptView => ({
  instruction,
  step,
  agentId: request.agentId,
  results,
  result: (name) => results.findLast((result) => result.name === name || result.tool === name),
});

const group = (results: readonly ScriptResult[]): Record<string, JsonValue[]> => {
  const groups = new Map<string, JsonValue[]>();
  for (const { name, tool, value } of results) {
    for (const key of new Set([name, tool])) groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  return Object.fromEntries(groups);
};

export const scopeOf = (view: ScriptView): TemplateScope => {
  const all = group(view.results);
  const newest = Object.entries(all).map(([name, values]) => [name, values.at(-1) ?? null] as const);
  return {
    instruction: view.instruction,
    step: view.step,
    agent_id: view.agentId,
    all,
    results: Object.fromEntries(newest),
  };
};
