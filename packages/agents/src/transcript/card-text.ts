// The whole text of a card, as a model may read it, without any cut. Offsets of `read_card` count in this text.

import { CARD_TYPES, type Card } from "@toolplane/protocol";
import { projectCards } from "@toolplane/protocol/agents";

/** Undefined for cards that are not shown to a model. */
export const cardFullText = (card: Card): string | undefined => {
  if (card.type === CARD_TYPES.toolCall || card.type === CARD_TYPES.sysTools) return undefined;
  if (card.content.__type__ === "ToolResultContent" && card.content.status === "success") {
    const { result } = card.content;
    return result === null ? "" : typeof result === "string" ? result : JSON.stringify(result);
  }
  return projectCards([card]).messages[0]?.content;
};
