// context_merge: makes one card of context from the cards of some boxes, in a box of its own, for a turn that is to begin with it.
//   CX1. An agent merges boxes and cards that are its own; for others they do not exist.
//   CX2. Results from outside and words of others stay fenced in the merged text, and the card's author is this tool: a model is not
//        led to take them for its user's words.
//   CX3. The same call makes the same card, however often it runs.

import { fence, fenceMark } from "@toolplane/agents";
import { derivedUuid, type Engine, isTokenActor, sha256 } from "@toolplane/engine";
import { CARD_TYPES, type Card, isTrustedActor, ToolplaneError, UsageError } from "@toolplane/protocol";
import { projectCards } from "@toolplane/protocol/agents";
import { defineTool, type Tool, type ToolCall } from "@toolplane/sdk";
import { z } from "zod";

const MAX_BOXES = 20;
const CONCAT_CHARS = 100_000;
const SUMMARY_CHARS = 8_000;
/** Well below what a card holds, whatever the characters cost in UTF-8. */
const MAX_CHARS = 200_000;

export type MergeEngine = Pick<Engine, "boxes" | "cards" | "ownership">;

interface Reader {
  readonly projectId: string;
  readonly agentId: string;
}

const noBox = (boxId: string): ToolplaneError => new ToolplaneError("not_found", `there is no box ${boxId} of yours`);

/** Those of the ids that the reader may see; the system's own actors see all that exist. */
const ownAmong = async (
  { ownership }: MergeEngine,
  kind: "box" | "card",
  reader: Reader,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (isTrustedActor(reader.agentId) && !isTokenActor(reader.agentId)) return new Set(ids);
  const found = await ownership.of(kind, reader, ids);
  return new Set(ids.filter((id) => found.get(id) === true));
};

const readCards = async (engine: MergeEngine, reader: Reader, boxIds: readonly string[]): Promise<readonly Card[]> => {
  const own = await ownAmong(engine, "box", reader, boxIds);
  const cards: Card[] = [];
  for (const boxId of boxIds) {
    const found = own.has(boxId) ? await engine.boxes.loadBoxCards(reader.projectId, boxId) : undefined;
    if (found === undefined) throw noBox(boxId);
    cards.push(...found);
  }
  const unique = [...new Map(cards.map((card) => [card.card_id, card])).values()];
  const seen = await ownAmong(
    engine,
    "card",
    reader,
    unique.map(({ card_id: id }) => id),
  );
  return unique.filter(({ card_id: id }) => seen.has(id));
};

/** The words of a card as a model would read them; undefined for cards that it reads in no message. */
const wordsOf = (card: Card): string | undefined => {
  const [message] = projectCards([card]).messages;
  const text = message === undefined || message.role === "system" ? "" : message.content;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
};

interface MergedText {
  readonly text: string;
  readonly cards: number;
}

/** Pure. `summarize` has no model: it keeps the beginning of each card, in equal shares. */
const planMerge = (
  cards: readonly Card[],
  {
    mode,
    maxChars,
    agentId,
  }: { readonly mode: "concat" | "summarize"; readonly maxChars: number; readonly agentId: string },
): MergedText => {
  const said = cards.flatMap((card) => {
    const words = wordsOf(card);
    return words === undefined ? [] : [{ card, words }];
  });
  const share = mode === "summarize" ? Math.max(1, Math.floor(maxChars / Math.max(1, said.length))) : maxChars;
  const pieces: string[] = [];
  let left = maxChars;
  for (const { card, words } of said) {
    const most = Math.min(share, left);
    if (most <= 0) break;
    const cut = words.length > most ? `${words.slice(0, most).toWellFormed()} [...]` : words;
    left -= Math.min(words.length, most);
    const tool = String(card.metadata.function_name ?? card.author_id);
    const isOwn = card.author_id === agentId || card.type === CARD_TYPES.taskInstruction;
    pieces.push(isOwn ? cut : fence(cut, fenceMark(card.card_id, cut), { tool, source: card.type }));
  }
  return { text: pieces.join("\n\n"), cards: pieces.length };
};

const PARAMETERS = z.strictObject({
  box_ids: z.array(z.string().min(1).max(128)).min(1).max(MAX_BOXES),
  mode: z.enum(["concat", "summarize"]).default("concat"),
  max_chars: z
    .int()
    .min(1)
    .max(MAX_CHARS)
    .optional()
    .describe("The longest text; 100000 for concat, 8000 for summarize"),
});

const merge = async (
  engine: MergeEngine,
  { box_ids: boxIds, mode, max_chars: asked }: z.infer<typeof PARAMETERS>,
  call: ToolCall,
) => {
  const { projectId, agentId, agentTurnId } = call.context;
  const cards = await readCards(engine, { projectId, agentId }, boxIds);
  const maxChars = asked ?? (mode === "concat" ? CONCAT_CHARS : SUMMARY_CHARS);
  const merged = planMerge(cards, { mode, maxChars, agentId });
  if (merged.cards === 0) throw new ToolplaneError("bad_request", "the boxes have no words to merge");
  const cardId = derivedUuid(call.toolCallId, "context_merge", sha256);
  const card: Card = {
    card_id: cardId,
    project_id: projectId,
    type: CARD_TYPES.taskContext,
    content: { __type__: "TextContent", text: merged.text },
    created_at: call.card.created_at,
    author_id: "tool.bundled",
    // Of the caller's turn: so the card is the caller's own.
    metadata: { role: "user", agent_turn_id: agentTurnId, merged_box_ids: [...boxIds] },
    tool_calls: null,
    tool_call_id: null,
    ttl_seconds: null,
  };
  await engine.cards.putCards(projectId, [card]);
  const boxId = await engine.boxes.createBox(projectId, [cardId], { parentIds: boxIds });
  return { box_id: boxId, card_id: cardId, cards: merged.cards, characters: merged.text.length };
};

/** Without an engine it only describes the tool. */
export const createContextMerge = (engine?: MergeEngine): Tool =>
  defineTool({
    name: "context_merge",
    description:
      "Make one card of context from the cards of some boxes, in a new box. concat keeps the texts, summarize the beginning of each.",
    parameters: PARAMETERS,
    retry: "safe",
    run: (args, { call }) => {
      if (engine === undefined) throw new UsageError("this context_merge only describes the tool");
      return merge(engine, args, call);
    },
  });
