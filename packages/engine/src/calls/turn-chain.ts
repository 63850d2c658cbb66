// The hash chain of a turn: each card that the turn writes cites everything before it, so that a card that is changed, dropped
// or moved later breaks the chain at its place. Settling never extends the chain: results are cited when they are applied.

export type Sha256 = (text: string) => string;

export interface ChainLink {
  readonly seq: number;
  readonly hash: string;
}

/** Where a turn's chain begins; bound to the turn, so that its cards cannot be presented as another turn's. */
export const chainStart = (projectId: string, agentTurnId: string, sha256: Sha256): ChainLink => ({
  seq: 0,
  hash: sha256(`toolplane chain 1\n${projectId}\n${agentTurnId}`),
});

export const extendChain = (previous: ChainLink, cardHash: string, sha256: Sha256): ChainLink => ({
  seq: previous.seq + 1,
  hash: sha256(`${previous.hash}\n${cardHash}`),
});
