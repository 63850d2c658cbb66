// Completions in the OpenAI chat-completions wire format: one body, or the chunks of a stream.

import type { JsonObject, JsonValue } from "@toolplane/protocol";
import type { Completion, ReplyToolCall } from "./model-reply.ts";

/** Small enough that arguments arrive in fragments. */
const CHUNK_CHARS = 7;

const head = (model: string, object: string): JsonObject => ({ id: "chatcmpl-test", object, created: 1, model });

const argumentsText = ({ arguments: args = {} }: ReplyToolCall): string =>
  typeof args === "string" ? args : JSON.stringify(args);

const finishOf = ({ finishReason, toolCalls = [] }: Completion): string | null =>
  finishReason === undefined ? (toolCalls.length > 0 ? "tool_calls" : "stop") : finishReason;

const defined = (fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));

export const completionBody = (completion: Completion, model: string): JsonObject => {
  const calls = completion.toolCalls?.map((call) =>
    defined({ id: call.id, type: "function", function: { name: call.name, arguments: argumentsText(call) } }),
  );
  const message = defined({
    role: "assistant",
    content: completion.text ?? null,
    reasoning_content: completion.reasoning,
    tool_calls: calls,
  });
  return {
    ...head(model, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finishOf(completion) }],
    ...defined({ usage: completion.usage }),
  };
};

const pieces = (text: string, size: number): readonly string[] => {
  const found: string[] = [];
  for (let at = 0; at < text.length; at += size) found.push(text.slice(at, at + size));
  return found;
};

const callDeltas = (call: ReplyToolCall, index: number, size: number): readonly JsonObject[] => [
  { tool_calls: [defined({ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } })] },
  ...pieces(argumentsText(call), size).map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
];

/** Fragments of parallel calls come mixed, as they do from servers that generate them side by side. */
const interleave = (lists: readonly (readonly JsonObject[])[]): readonly JsonObject[] => {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.map((list) => list[at]))
    .flat()
    .filter((delta) => delta !== undefined);
};

/** Without the closing [DONE]. */
export const completionChunks = (completion: Completion, model: string, withUsage: boolean): readonly JsonObject[] => {
  const size = completion.chunkChars ?? CHUNK_CHARS;
  const deltas: JsonObject[] = [
    { role: "assistant", content: "" },
    ...pieces(completion.reasoning ?? "", size).map((text) => ({ reasoning_content: text })),
    ...pieces(completion.text ?? "", size).map((text) => ({ content: text })),
    ...interleave((completion.toolCalls ?? []).map((call, index) => callDeltas(call, index, size))),
  ];
  const chunk = (delta: JsonObject, finish: string | null): JsonObject => ({
    ...head(model, "chat.completion.chunk"),
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const finish = finishOf(completion);
  const { usage } = completion;
  return [
    ...deltas.map((delta) => chunk(delta, null)),
    ...(finish === null ? [] : [chunk({}, finish)]),
    ...(withUsage && usage !== undefined ? [{ ...head(model, "chat.completion.chunk"), choices: [], usage }] : []),
  ];
};
