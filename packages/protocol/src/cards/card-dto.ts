// A card as the HTTP API shows it: content without its `__type__`. When such a card is read back, its kind is derived from the
// card's type, or from the single key that a text or JSON content has.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { isRecord, type JsonCaps, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { type Card, parseCard } from "./card.ts";
import { CARD_CONVENTIONS, isKnownCardType } from "./card-types.ts";
import { type CardContent, type ContentType, type JsonContent, jsonContent, type ToolContent } from "./content.ts";

export type CardDto = Omit<Card, "content"> & { readonly content: JsonObject };

/** Tool lists are shown as ordinary JSON: only the engine needs their own kind. */
const toolsAsJson = (content: ToolContent): JsonContent => jsonContent({ tools: content.tools });

export const toCardDto = (card: Card): CardDto => {
  const shown = card.content.__type__ === "ToolContent" ? toolsAsJson(card.content) : card.content;
  const { __type__: _kind, ...content } = shown as CardContent & JsonObject;
  return { ...card, content };
};

const kindByType = (type: unknown): ContentType | undefined => {
  if (typeof type !== "string" || !isKnownCardType(type)) return undefined;
  const { contents } = CARD_CONVENTIONS[type];
  return contents.length === 1 ? contents[0] : undefined;
};

const kindByKey = (content: Record<string, unknown>): ContentType | undefined => {
  if (Object.hasOwn(content, "text")) return "TextContent";
  return Object.hasOwn(content, "data") ? "JsonContent" : undefined;
};

const restoreKind = (type: unknown, content: Record<string, unknown>): Record<string, unknown> => {
  const kind = kindByType(type) ?? kindByKey(content);
  if (kind === undefined) {
    throw new ToolplaneError(
      "bad_request",
      "the card's content needs a __type__: it cannot be told from the card's type",
    );
  }
  const data = content.data;
  if (kind === "ToolContent" && isRecord(data)) return { __type__: kind, ...(data as Record<string, JsonValue>) };
  return { __type__: kind, ...content };
};

/** Accepts a card with or without `__type__` in its content. */
export const parseCardDto = (input: unknown, caps: JsonCaps = {}): Card => {
  if (!isRecord(input) || !isRecord(input.content) || Object.hasOwn(input.content, "__type__")) {
    return parseCard(input, caps);
  }
  return parseCard({ ...input, content: restoreKind(input.type, input.content) }, caps);
};
