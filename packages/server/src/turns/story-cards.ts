// What a turn's story shows of a text, a value or a long card. A turn may have a thousand cards of a megabyte: of each only this
// stays in memory.

import { type Card, isRecord, type JsonObject, type JsonValue, storableText } from "@toolplane/protocol";

/** What is shown of one text or one value; the card and `calls show` have the whole. */
const SHOWN_CHARS = 4_000;
/** Members with a name and a value; more of them would not be shown. */
const SHOWN_MEMBERS = 1_000;

export const cutText = (text: string): string =>
  text.length <= SHOWN_CHARS ? text : `${storableText(text, SHOWN_CHARS)}...`;

/** The value itself, or the start of its JSON when it is long. */
export const shortValue = (value: unknown): unknown => {
  const text = JSON.stringify(value) ?? "null";
  return text.length <= SHOWN_CHARS ? value : cutText(text);
};

/** A long text is cut as a text, so that the JSON around it begins as before. */
const shortMember = (value: unknown): unknown => (typeof value === "string" ? cutText(value) : shortValue(value));

const shortMembers = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value)
      .slice(0, SHOWN_MEMBERS)
      .map(([name, member]) => [name, shortMember(member)]),
  ) as JsonObject;

const shortContent = ({ content }: Card): Card["content"] => {
  switch (content.__type__) {
    case "TextContent":
      return { ...content, text: cutText(content.text) };
    case "JsonContent":
      return { __type__: "TextContent", text: cutText(JSON.stringify(content.data)) };
    case "ToolCallContent":
      return { ...content, arguments: shortMembers(content.arguments) };
    case "ToolResultContent": {
      const { result, error } = content;
      return { ...content, result: shortValue(result) as JsonValue, error: shortValue(error) as JsonValue };
    }
    default:
      return { __type__: "TextContent", text: "" };
  }
};

const shortCall = (call: JsonObject): JsonObject => {
  const said = isRecord(call.function) ? call.function.arguments : undefined;
  return {
    id: shortMember(call.id ?? null) as JsonValue,
    function: { arguments: shortMember(said ?? null) as JsonValue },
  };
};

/** Whole, because what an agent may not see is named in there. */
const SHOWN_METADATA = [
  "agent_turn_id",
  "step_id",
  "function_name",
  "provider_tool_call_id",
  "tool_version",
  "tool_args_defaults_applied",
  "tool_args_fixed_applied",
  "tool_args_envs",
] as const;

const shortMetadata = (metadata: JsonObject): JsonObject =>
  Object.fromEntries(SHOWN_METADATA.flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]])));

export const shortCard = (card: Card): Card => ({
  ...card,
  content: shortContent(card),
  tool_calls: card.tool_calls?.slice(0, SHOWN_MEMBERS).map(shortCall) ?? null,
  metadata: shortMetadata(card.metadata),
});
