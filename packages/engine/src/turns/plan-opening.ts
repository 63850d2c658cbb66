// How the chain of a turn begins: with what the turn was asked to do and the cards it was given, as one link, and then each card
// that was written for it (its instruction is the first of them). Made when the turn is spawned, whether it begins at once or
// waits: its row keeps the end of this opening until its agent's head takes over.

import { canonicalText } from "@toolplane/protocol";
import { type ChainKey, type ChainLink, chainStart, extendChain, type Sha256 } from "../calls/turn-chain.ts";

/** Cards a turn was given and did not write. */
export interface GivenContext {
  readonly contextCards: number;
  /** Null for none. */
  readonly contextHash: string | null;
}

const NO_CONTEXT: GivenContext = { contextCards: 0, contextHash: null };

/** In place of the hash of a card that is named and not there. */
export const NO_CARD = "-";

/** `hashes`: of the cards, in the order of the box. The statement of a spawn computes the same (spawn.sql.ts). */
export const contextOfHashes = (hashes: readonly string[], sha256: Sha256): GivenContext =>
  hashes.length === 0 ? NO_CONTEXT : { contextCards: hashes.length, contextHash: sha256(hashes.join("\n")) };

/** What a turn was asked, as its row has it. */
export interface TurnTask extends ChainKey, GivenContext {
  readonly agentId: string;
  readonly kind: string;
  readonly sourceAgentId: string;
  readonly payload: string;
  readonly runtimeConfig: string;
  readonly metadata: string;
}

export const taskHash = (task: TurnTask, sha256: Sha256): string =>
  sha256(
    canonicalText({
      agent_id: task.agentId,
      kind: task.kind,
      source_agent_id: task.sourceAgentId,
      payload: task.payload,
      runtime_config: task.runtimeConfig,
      metadata: task.metadata,
      context_cards: task.contextCards,
      context_hash: task.contextHash,
    }),
  );

export const planOpening = (
  task: TurnTask,
  sha256: Sha256,
): { readonly taskHash: string; readonly chain: ChainLink } => {
  const linked = taskHash(task, sha256);
  return { taskHash: linked, chain: extendChain(chainStart(task, sha256), linked, sha256) };
};
