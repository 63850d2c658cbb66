// The cards that are written for a turn when it is spawned: its instruction, the fields it shall fill, what the caller adds.

import type { Card } from "@toolplane/protocol";
import { createInstructionCard, createResultFieldsCard } from "@toolplane/protocol/agents";
import { type ChainLink, extendChain } from "../calls/turn-chain.ts";
import { prepareCard } from "../cards/prepare-card.ts";
import type { LedgerMeans } from "./ledger.ts";
import type { SpawnItem } from "./prepare-spawn.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { createTurnWrites } from "./turn-writes.ts";

interface Opening {
  readonly writes: TurnWrites;
  readonly cardIds: readonly string[];
  readonly said: readonly Card[];
  readonly chain: ChainLink;
}

/** The cards that are written for the turn, each a link of its chain. */
export const openingCards = (
  item: SpawnItem,
  inherited: readonly string[],
  task: ChainLink,
  means: LedgerMeans,
): Opening => {
  const { request } = item;
  const writes = createTurnWrites();
  if ("boxId" in request.context) return { writes, cardIds: [], said: [], chain: task };
  const { instruction, packedBy = request.sourceAgentId, resultFields = [], cards = [] } = request.context;
  const origin = () => ({
    cardId: means.ids.uuid(),
    projectId: request.projectId,
    createdAt: new Date(means.nowMs).toISOString(),
    authorId: packedBy,
    // These belong to their owners: a turn that inherits them does not own them.
    extra: { agent_turn_id: item.agentTurnId },
  });
  const said = [
    ...(instruction === "" ? [] : [createInstructionCard({ ...origin(), text: instruction })]),
    ...(resultFields.length === 0 ? [] : [createResultFieldsCard({ ...origin(), fields: resultFields })]),
    ...cards,
  ];
  let chain = task;
  for (const card of said) {
    const options = { projectId: request.projectId, sha256: means.sha256 };
    const row = prepareCard(card, options);
    chain = extendChain(chain, row.hash, means.sha256);
    writes.cards.push({ ...row, chainSeq: chain.seq, chainHash: chain.hash });
  }
  return { writes, cardIds: [...inherited, ...said.map(({ card_id }) => card_id)], said, chain };
};
