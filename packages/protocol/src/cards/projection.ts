// Cards as the messages of a chat model. Pure. Callers that shorten or fence a tool's answer change its message afterwards.

import { isRecord, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { readModelView } from "../results/result-views.ts";
import type { Card } from "./card.ts";
import { CARD_AUTHORS, CARD_TYPES } from "./card-types.ts";
import type { CardContent, ToolResultContent } from "./content.ts";

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: string;
  readonly tool_calls: readonly JsonObject[];
  readonly reasoning_content?: string;
}

export interface ToolMessage {
  readonly role: "tool";
  readonly tool_call_id: string;
  readonly content: string;
  /** The content in a provider's own shape, for brains that speak it. */
  readonly native?: JsonObject;
}

export interface TextMessage {
  readonly role: string;
  readonly content: string;
}

export type ModelMessage = AssistantMessage | ToolMessage | TextMessage;

export interface Projection {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly JsonObject[];
}

/** A program's output can be endless; a model needs its beginning. */
export const MAX_STREAM_CHARS = 4000;

const cutStream = (text: string): string =>
  text.length <= MAX_STREAM_CHARS ? text : text.slice(0, MAX_STREAM_CHARS).toWellFormed();

const cutStreams = (result: JsonObject): JsonObject => {
  const { stdout, stderr } = result;
  if (typeof stdout !== "string" && typeof stderr !== "string") return result;
  return {
    ...result,
    ...(typeof stdout === "string" ? { stdout: cutStream(stdout) } : {}),
    ...(typeof stderr === "string" ? { stderr: cutStream(stderr) } : {}),
  };
};

const successBody = (result: JsonValue): string => {
  if (result === null) return "";
  if (typeof result === "string") return result;
  return JSON.stringify(isRecord(result) ? cutStreams(result as JsonObject) : result);
};

/** The result of a failure mostly repeats its error; anything beyond that belongs to the answer. */
const isMirror = (result: JsonValue): boolean =>
  result === null || (isRecord(result) && Object.hasOwn(result, "error_code"));

/** The watchdog's words count as the plane's own. The name of a lost service is that service's choice, and for people only. */
const withoutHolder = (error: JsonValue): JsonValue => {
  if (!isRecord(error) || !isRecord(error.detail)) return error;
  const { holder: _holder, ...detail } = error.detail as JsonObject;
  return { ...(error as JsonObject), detail };
};

const failureBody = ({ error, result }: ToolResultContent): string => {
  if (isMirror(result)) return JSON.stringify({ error });
  return JSON.stringify({ error, result: isRecord(result) ? cutStreams(result as JsonObject) : result });
};

/** The text of a tool message for a result. A partial result is shown beside its error. */
const toolResultBody = (content: ToolResultContent): string =>
  content.status === "success" ? successBody(content.result) : failureBody(content);

const contentText = (content: CardContent): string => {
  switch (content.__type__) {
    case "TextContent":
      return content.text;
    case "JsonContent":
      return JSON.stringify(content.data);
    case "ToolResultContent":
      return toolResultBody(content);
    default: {
      const { __type__: _kind, ...rest } = content;
      return JSON.stringify(rest);
    }
  }
};

const assistantMessage = (card: Card, toolCalls: readonly JsonObject[]): AssistantMessage => {
  const reasoning = card.metadata.reasoning_content;
  const base = { role: "assistant", content: contentText(card.content), tool_calls: toolCalls } as const;
  return typeof reasoning === "string" && reasoning !== "" ? { ...base, reasoning_content: reasoning } : base;
};

const textOf = ({ author_id: author, content }: Card): string =>
  author === CARD_AUTHORS.watchdog && content.__type__ === "ToolResultContent"
    ? contentText({ ...content, error: withoutHolder(content.error) })
    : contentText(content);

const plainMessage = (card: Card): TextMessage => {
  const { role } = card.metadata;
  return { role: typeof role === "string" && role !== "" ? role : "user", content: textOf(card) };
};

const offeredTools = (card: Card): readonly JsonObject[] | undefined => {
  if (card.content.__type__ === "ToolContent") return card.content.tools;
  if (card.type !== CARD_TYPES.sysTools || card.content.__type__ !== "JsonContent") return undefined;
  const data = card.content.data;
  return isRecord(data) && Array.isArray(data.tools) ? (data.tools.filter(isRecord) as JsonObject[]) : undefined;
};

const isSuccess = (content: CardContent): boolean =>
  content.__type__ === "ToolResultContent" && content.status === "success";

const messageOf = (card: Card): ModelMessage | undefined => {
  if (card.tool_calls !== null && card.tool_calls.length > 0) return assistantMessage(card, card.tool_calls);
  if (card.content.__type__ === "ToolCallContent") return undefined;
  if (card.tool_call_id === null) return plainMessage(card);
  const view = isSuccess(card.content) ? readModelView(card.metadata) : undefined;
  const body = view === undefined ? textOf(card) : view.kind === "text" ? view.text : JSON.stringify(view.envelope);
  return {
    role: "tool",
    tool_call_id: card.tool_call_id,
    content: body,
    ...(view?.kind === "native" ? { native: view.envelope } : {}),
  };
};

/** Walks the cards in order; absent cards are skipped, tool lists are collected, calls leave no message of their own. */
export const projectCards = (cards: readonly (Card | null | undefined)[]): Projection => {
  const messages: ModelMessage[] = [];
  const tools: JsonObject[] = [];
  for (const card of cards) {
    if (card === null || card === undefined) continue;
    const offered = offeredTools(card);
    if (offered !== undefined) {
      tools.push(...offered);
      continue;
    }
    const message = messageOf(card);
    if (message !== undefined) messages.push(message);
  }
  return { messages, tools };
};
