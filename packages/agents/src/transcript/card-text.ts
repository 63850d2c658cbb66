// The whole text of a card, as a model may read it, without any cut. Offsets of `read_card` count in this text.

import { CARD_TYPES, type Card, isRecord } from "@toolplane/protocol";
import { projectCards } from "@toolplane/protocol/agents";
import { READ_CARD } from "./read-card-name.ts";

/** The piece a `read_card` result holds: shown as it is, not as JSON, or it would grow beyond its limit. */
const pieceOf = (card: Card): string | undefined => {
  if (card.metadata.function_name !== READ_CARD || card.content.__type__ !== "ToolResultContent") return undefined;
  const { result, status } = card.content;
  return status === "success" && isRecord(result) && typeof result.text === "string" ? result.text : undefined;
};

/** Undefined for cards that are not shown to a model. */
export const cardFullText = (card: Card): string | undefined => {
  if (card.type === CARD_TYPES.toolCall || card.type === CARD_TYPES.sysTools) return undefined;
  const piece = pieceOf(card);
  if (piece !== undefined) return piece;
  if (card.content.__type__ === "ToolResultContent" && card.content.status === "success") {
    const { result } = card.content;
    return result === null ? "" : typeof result === "string" ? result : JSON.stringify(result);
  }
  return projectCards([card]).messages[0]?.content;
};
