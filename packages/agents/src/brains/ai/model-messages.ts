// Our transcript as the messages of the `ai` SDK.
//   MM1. A conversation has only user, assistant and tool messages: our own notes become user messages with a mark.
//   MM2. No message is empty, and the first is the user's, because some providers refuse anything else.

import { isRecord, type JsonObject, tryParseJsonStrict } from "@toolplane/protocol";
import type { AssistantMessage, ModelMessage, ToolMessage } from "@toolplane/protocol/agents";
import type { AssistantModelMessage, ModelMessage as SdkMessage, ToolModelMessage } from "ai";
import { NOTE_PREFIX } from "../../transcript/step-notes.ts";
import { readToolCall } from "../../transcript/tool-calls.ts";

const NO_CONTENT = "(no content)";
const NO_INSTRUCTION = "(no instruction was given)";
const GOES_ON = "(the conversation goes on)";

const filled = (text: string): string => (text.trim() === "" ? NO_CONTENT : text);

/** Providers want an object here; other arguments of the model are shown under a name that says so. */
const callInput = (text: string): JsonObject => {
  const value = tryParseJsonStrict(text);
  return isRecord(value) ? (value as JsonObject) : { _raw: text };
};

type AssistantParts = Exclude<AssistantModelMessage["content"], string>;

const assistantMessage = (message: AssistantMessage, withReasoning: boolean): AssistantModelMessage => {
  const calls = message.tool_calls.map(readToolCall);
  const parts: AssistantParts = [];
  const { reasoning_content: reasoning } = message;
  if (withReasoning && reasoning !== undefined) parts.push({ type: "reasoning", text: reasoning });
  if (message.content.trim() !== "" || calls.length === 0) parts.push({ type: "text", text: filled(message.content) });
  for (const { id, name, arguments: text } of calls) {
    parts.push({ type: "tool-call", toolCallId: id, toolName: name, input: callInput(text) });
  }
  return { role: "assistant", content: parts };
};

const toolMessage = (message: ToolMessage, toolName: string): ToolModelMessage => ({
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId: message.tool_call_id,
      toolName,
      output: { type: "text", value: filled(message.content) },
    },
  ],
});

const plainMessage = ({ role, content }: ModelMessage): SdkMessage => {
  if (role === "assistant") return { role: "assistant", content: filled(content) };
  return { role: "user", content: role === "system" ? NOTE_PREFIX + filled(content) : filled(content) };
};

/** One message for the results of one step: some providers accept the answers to parallel calls only together. */
const push = (messages: SdkMessage[], next: SdkMessage): void => {
  const last = messages.at(-1);
  if (next.role === "tool" && last?.role === "tool") {
    messages[messages.length - 1] = { ...last, content: [...last.content, ...next.content] };
  } else messages.push(next);
};

export const toSdkMessages = (transcript: readonly ModelMessage[], withReasoning: boolean): SdkMessage[] => {
  const messages: SdkMessage[] = [];
  const toolNames = new Map<string, string>();
  for (const message of transcript) {
    if ("tool_calls" in message) {
      for (const { id, name } of message.tool_calls.map(readToolCall)) toolNames.set(id, name);
      push(messages, assistantMessage(message, withReasoning));
    } else if ("tool_call_id" in message) {
      push(messages, toolMessage(message, toolNames.get(message.tool_call_id) ?? "unknown"));
    } else push(messages, plainMessage(message));
  }
  if (messages.length === 0) return [{ role: "user", content: NO_INSTRUCTION }];
  return messages[0]?.role === "user" ? messages : [{ role: "user", content: GOES_ON }, ...messages];
};
