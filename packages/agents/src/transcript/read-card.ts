// read_card: the built-in way to read what an excerpt left out. A plan without I/O: the worker passes in the card, if the turn has it.
//   RC1. Only cards that the turn can see are read; any other id does not exist, whatever its project (I7).
//   RC2. Reading from each `next_offset` until there is none gives the whole text, every character once.
//   RC3. A piece that is read keeps the trust of its card (see transcript.ts).

import { type Card, type JsonObject, parseRawArguments, parseWith, ToolplaneError } from "@toolplane/protocol";
import type { ModelToolSpec } from "@toolplane/protocol/agents";
import { z } from "zod";
import { cardFullText } from "./card-text.ts";
import { READ_CARD } from "./read-card-name.ts";
import { characterEdge } from "./slice-text.ts";

/** How much one reading may add to the conversation: about 2000 tokens. */
export const MAX_READ_CHARS = 8000;

export const readCardSpec = (): ModelToolSpec => ({
  type: "function",
  function: {
    name: READ_CARD,
    description:
      "Read a part of a long result that was shown shortened. Answers with the text from offset and, when there is more, next_offset.",
    parameters: {
      type: "object",
      properties: {
        card_id: { type: "string", description: "The card_id named where the result was shortened." },
        offset: { type: "integer", minimum: 0, default: 0, description: "First character to read." },
        length: { type: "integer", minimum: 1, maximum: MAX_READ_CHARS, default: MAX_READ_CHARS },
      },
      required: ["card_id"],
      additionalProperties: false,
    },
  },
});

/** A model that asks for more than there is gets less; one that asks with a bad number gets an error. */
const argumentsSchema = z.strictObject({
  card_id: z.string().min(1),
  offset: z.int().nonnegative().default(0),
  length: z.int().positive().default(MAX_READ_CHARS),
});

export type ReadCardResult = JsonObject & {
  readonly card_id: string;
  readonly offset: number;
  readonly total_chars: number;
  readonly text: string;
};

const readArguments = (raw: unknown) => parseWith(argumentsSchema, parseRawArguments(raw), "arguments of read_card");

/** The card that a call asks for; throws as `planReadCard` does. */
export const askedCardId = (rawArguments: unknown): string => readArguments(rawArguments).card_id;

/** The result of the call; throws a ToolplaneError that becomes its failed result. `visible`: cards of the turn, whole. */
export const planReadCard = (rawArguments: unknown, visible: ReadonlyMap<string, Card>): ReadCardResult => {
  const args = readArguments(rawArguments);
  const card = visible.get(args.card_id);
  const text = card && cardFullText(card);
  if (text === undefined) {
    throw new ToolplaneError("not_found", "no card of this id is in the conversation; use a card_id that was shown");
  }
  const from = characterEdge(text, args.offset);
  const to = characterEdge(text, from + Math.min(args.length, MAX_READ_CHARS));
  return {
    card_id: args.card_id,
    offset: from,
    total_chars: text.length,
    text: text.slice(from, to),
    ...(to < text.length ? { next_offset: to } : {}),
  };
};
