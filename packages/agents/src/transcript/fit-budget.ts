// Keeps a transcript within a size. No message is removed: pairs of calls and answers stay whole, only texts get shorter.
//   1. tool results, oldest first, down to a short excerpt (`read_card` still reads them whole)
//   2. reasoning, oldest first, is dropped
//   3. other texts, oldest first, except the last user message (the instruction) and the last message
//   4. arguments of calls, oldest first: a note stands in their place
// A transcript that still does not fit is sent as it is: the provider's refusal is clearer than our guess.

import type { ModelMessage } from "@toolplane/protocol/agents";
import { shortText } from "./slice-text.ts";
import { readToolCall, shortArguments } from "./tool-calls.ts";

export interface BudgetItem {
  readonly message: ModelMessage;
  /** A shorter form of the same message; only results have one. */
  readonly shorten?: (() => ModelMessage) | undefined;
}

/** Role, id and punctuation around a message. */
const FRAME_CHARS = 16;

export const messageChars = (message: ModelMessage): number => {
  let chars = message.content.length + FRAME_CHARS;
  if ("tool_calls" in message) {
    chars += message.reasoning_content?.length ?? 0;
    for (const call of message.tool_calls) chars += JSON.stringify(call).length;
  }
  return chars;
};

const dropReasoning = (message: ModelMessage): ModelMessage => {
  if (!("reasoning_content" in message)) return message;
  const { reasoning_content: _dropped, ...rest } = message;
  return rest;
};

const shortenText = (message: ModelMessage): ModelMessage => ({
  ...message,
  content: shortText(message.content),
});

const shortenArguments = (message: ModelMessage): ModelMessage => {
  if (!("tool_calls" in message)) return message;
  const calls = message.tool_calls.map((entry) => {
    const { id, name, arguments: text } = readToolCall(entry);
    return { id, type: "function", function: { name, arguments: shortArguments(text) } };
  });
  return { ...message, tool_calls: calls };
};

type Shorten = (item: BudgetItem, current: ModelMessage, index: number) => ModelMessage;

export const fitBudget = (items: readonly BudgetItem[], maxChars: number): readonly ModelMessage[] => {
  const messages = items.map(({ message }) => message);
  let total = messages.reduce((sum, message) => sum + messageChars(message), 0);

  const pass = (shorten: Shorten): void => {
    for (const [index, item] of items.entries()) {
      if (total <= maxChars) return;
      const current = messages[index] ?? item.message;
      const shorter = shorten(item, current, index);
      const saved = messageChars(current) - messageChars(shorter);
      if (saved <= 0) continue;
      messages[index] = shorter;
      total -= saved;
    }
  };

  const instruction = items.findLastIndex(({ message }) => message.role === "user");
  pass(({ shorten }, current) => shorten?.() ?? current);
  pass((_item, current) => dropReasoning(current));
  pass(({ shorten }, current, index) =>
    shorten !== undefined || index === instruction || index === items.length - 1 ? current : shortenText(current),
  );
  pass((_item, current) => shortenArguments(current));
  return messages;
};
