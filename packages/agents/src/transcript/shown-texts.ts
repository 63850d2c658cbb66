// Remembers what was shown of long results. A card never changes (I7), and the excerpt of a result of a megabyte takes milliseconds: a
// turn with hundreds of them would make every one again at each step, in one piece, while others wait.

import type { Card } from "@toolplane/protocol";
import { LRUCache } from "lru-cache";

export interface ShownText {
  readonly text: string;
  /** A sentence of ours about it; stands outside the fence. */
  readonly note?: string | undefined;
}

/** Excerpts of the turns that are being worked on; some tens of megabytes at most. */
const MAX_CHARS = 32 * 1024 * 1024;
/** Making it again is cheaper than a place here. */
const SHORT_RESULT = 64 * 1024;

const known = new LRUCache<string, ShownText>({
  maxSize: MAX_CHARS,
  sizeCalculation: ({ text, note = "" }) => text.length + note.length + 1,
});

/** `way` names everything besides the card that the text depends on. `make` also says how long the whole text is. */
export const shownOnce = (
  card: Card,
  way: string,
  make: () => { readonly shown: ShownText; readonly fullLength: number },
): ShownText => {
  const key = `${card.project_id} ${card.card_id} ${way}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const { shown, fullLength } = make();
  if (fullLength > SHORT_RESULT) known.set(key, shown);
  return shown;
};
