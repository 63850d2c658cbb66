// The calls of one answer as a thought card keeps them (the OpenAI form), and back.
// The id in there is the provider's, or ours when it gave none; it is an alias for the transcript, never a key (W-03).

import { isFilled, isRecord, isToken, type JsonObject } from "@toolplane/protocol";
import { isToolName } from "@toolplane/protocol/registry";
import type { BrainToolCall } from "../brains/brain.ts";
import { SHORT_CHARS } from "./slice-text.ts";

export interface NamedToolCall {
  /** Distinct within the step. */
  readonly id: string;
  readonly name: string;
  /** As the brain gave them: an object, or text. */
  readonly arguments: unknown;
}

/** Providers accept 40 to 64 characters; a longer id would be refused when it is shown to them again. */
const MAX_ID_LENGTH = 64;

/** From the space to the tilde: the remaining ids can be stored, shown again and told apart. */
const isPlain = (text: string): boolean => [...text].every((char) => char >= " " && char <= "~");

const isUsableId = (id: unknown): id is string => isFilled(id) && id.length <= MAX_ID_LENGTH && isPlain(id);

/** The longest name every provider takes. */
const MAX_SHOWN_NAME = 64;

/** A name that can be shown to a provider again: providers refuse a whole conversation for one impossible name. */
export const shownToolName = (name: string): string => {
  const isName: boolean = isToolName(name);
  if (isName) return name;
  return [...name.slice(0, MAX_SHOWN_NAME)].map((char) => (isToken(char) ? char : "_")).join("") || "unknown";
};

/** Gives every call an id that is its own within the step; a call without a name cannot be answered and is dropped. */
export const planToolCalls = (calls: readonly BrainToolCall[], stepNumber: number): readonly NamedToolCall[] => {
  const used = new Set<string>();
  const named = calls.filter((call) => isRecord(call) && isFilled(call.name));
  return named.map((call, index) => {
    const id = isUsableId(call.id) && !used.has(call.id) ? call.id : freshId(`tc_${stepNumber}_${index + 1}`, used);
    used.add(id);
    return { id, name: call.name.trim(), arguments: call.arguments };
  });
};

/** The first of `base`, `base_2`, `base_3`, ... that is not used. */
export const freshId = (base: string, used: ReadonlySet<string>): string => {
  if (!used.has(base)) return base;
  for (let n = 2; ; n++) {
    const id = `${base}_${n}`;
    if (!used.has(id)) return id;
  }
};

const argumentsText = (value: unknown): string => {
  if (typeof value === "string") return value.toWellFormed();
  if (value === undefined || value === null) return "{}";
  try {
    return JSON.stringify(value) ?? "{}";
  } catch {
    return "{}";
  }
};

/** The entries of `tool_calls` on a thought card. */
export const thoughtToolCalls = (calls: readonly NamedToolCall[]): readonly JsonObject[] =>
  calls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name: name.toWellFormed(), arguments: argumentsText(args) },
  }));

export interface ShownToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** An entry of a thought card; its author is not known, so it is checked. */
export const readToolCall = (entry: JsonObject): ShownToolCall => {
  const call = isRecord(entry.function) ? entry.function : entry;
  return {
    id: typeof entry.id === "string" ? entry.id : "",
    name: isFilled(call.name) ? shownToolName(call.name) : "unknown",
    arguments: argumentsText(call.arguments),
  };
};

/** Arguments for which a transcript has no room: an object still, because providers want one. */
export const shortArguments = (text: string): string =>
  text.length <= SHORT_CHARS ? text : JSON.stringify({ not_shown: `${text.length} characters` });
