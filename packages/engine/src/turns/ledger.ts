// What one turn adds in one transaction: its cards in order, each a link of the turn's chain, and which of them its output box
// shows. A transaction keeps one for each turn, and writes all of it or nothing.

import type { Card } from "@toolplane/protocol";
import { type ChainLink, extendChain, type Sha256 } from "../calls/turn-chain.ts";
import { prepareCard } from "../cards/prepare-card.ts";
import type { TurnMeans, TurnMessage } from "./turn-event.ts";
import type { TurnRow } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { createTurnWrites } from "./turn-writes.ts";

export interface LedgerMeans extends TurnMeans {
  readonly sha256: Sha256;
}

export interface Ledger {
  readonly turn: TurnRow;
  readonly writes: TurnWrites;
  chain: ChainLink;
  /** Cards for the output box. */
  readonly shown: string[];
  /** Everything said here, shown or not. */
  readonly said: string[];
  /** What tells of the turn's end: sent after everything else of this transaction. */
  readonly last: TurnMessage[];
}

export const openLedger = (turn: TurnRow, chain: ChainLink): Ledger => ({
  turn,
  writes: createTurnWrites(),
  chain,
  shown: [],
  said: [],
  last: [],
});

export const sayCard = (ledger: Ledger, card: Card, means: LedgerMeans, show = true): void => {
  const row = prepareCard(card, { projectId: ledger.turn.project_id, sha256: means.sha256 });
  ledger.chain = extendChain(ledger.chain, row.hash, means.sha256);
  ledger.writes.cards.push({ ...row, chainSeq: ledger.chain.seq, chainHash: ledger.chain.hash });
  ledger.said.push(card.card_id);
  if (show) ledger.shown.push(card.card_id);
};

/** Links a result that another part of the plane wrote. The decision about its call, if there was one, is linked first. */
export const citeResult = (
  ledger: Ledger,
  result: { readonly cardId: string; readonly hash: string; readonly approvalHash: string | null },
  sha256: Sha256,
): ChainLink => {
  if (result.approvalHash !== null) ledger.chain = extendChain(ledger.chain, result.approvalHash, sha256);
  ledger.chain = extendChain(ledger.chain, result.hash, sha256);
  ledger.shown.push(result.cardId);
  return ledger.chain;
};

/** All writes of the ledger, with one write for everything that the output box gets. */
export const closeLedger = ({ turn, writes, shown, last }: Ledger): TurnWrites => {
  writes.messages.push(...last);
  if (shown.length > 0)
    writes.boxes.push({
      projectId: turn.project_id,
      boxId: turn.output_box_id,
      fresh: false,
      cardIds: JSON.stringify(shown),
    });
  return writes;
};

export const mergeWrites = (all: readonly TurnWrites[]): TurnWrites => ({
  spawned: all.flatMap(({ spawned }) => spawned),
  cards: all.flatMap(({ cards }) => cards),
  boxes: all.flatMap(({ boxes }) => boxes),
  steps: all.flatMap(({ steps }) => steps),
  heads: all.flatMap(({ heads }) => heads),
  touched: all.flatMap(({ touched }) => touched),
  turns: all.flatMap(({ turns }) => turns),
  changes: all.flatMap(({ changes }) => changes),
  arrivals: all.flatMap(({ arrivals }) => arrivals),
  applied: all.flatMap(({ applied }) => applied),
  messages: all.flatMap(({ messages }) => messages),
  wakeups: all.flatMap(({ wakeups }) => wakeups),
});
