// The two boxes of a turn as a step or a reader gets them: whole, or with the long cards named only.

import type { Card } from "@toolplane/protocol";

/** The cards of a turn's two boxes, oldest first. */
export interface TurnBoxes {
  readonly context: readonly Card[];
  readonly output: readonly Card[];
}

/** A card of a box that was not read with it, because it is long or many were asked for. `readLong` reads it. */
export interface LongCard {
  readonly cardId: string;
  readonly type: string;
  readonly bytes: number;
}

/** The same, with the long ones named only. */
export interface ListedBoxes {
  readonly context: readonly (Card | LongCard)[];
  readonly output: readonly (Card | LongCard)[];
}

export interface LongReading {
  /** What an earlier reading kept: a card never changes (I7). */
  readonly known?: ((long: LongCard) => Card | undefined) | undefined;
  /** What stays in memory of a card; the rest is dropped before the next page is read. */
  readonly keep: (card: Card) => Card;
}

export interface TurnBoxesAsk {
  readonly projectId: string;
  readonly contextBoxId: string;
  readonly outputBoxId: string;
}
