// The hash chain of a turn: each link cites everything before it, so that what is changed, dropped or moved later breaks the
// chain at its place. docs/decisions/0037-what-the-history-covers.md says what is linked and when.
//   A turn's chain is extended where its head is held: results and approvals are linked when they are applied, never in settle.
//   A direct call has no head: its settlement writes the last link (settle.sql.ts computes the same as `extendChain`).

export type Sha256 = (text: string) => string;

export interface ChainLink {
  readonly seq: number;
  readonly hash: string;
}

/** 1: chains of earlier versions, which begin with the first card. 2: the task is the first link, a direct call's result the last. */
export type ChainVersion = 1 | 2;

export const CHAIN_VERSION: ChainVersion = 2;

export interface ChainKey {
  readonly projectId: string;
  readonly agentTurnId: string;
}

/** Where a turn's chain begins; bound to the turn, so that one turn's cards cannot be passed off as another's. */
export const chainStart = (
  { projectId, agentTurnId }: ChainKey,
  sha256: Sha256,
  version: ChainVersion = CHAIN_VERSION,
): ChainLink => ({
  seq: 0,
  hash: sha256(`toolplane chain ${version}\n${projectId}\n${agentTurnId}`),
});

/** `linked`: the hash of the card, or of what else is linked. */
export const extendChain = (previous: ChainLink, linked: string, sha256: Sha256): ChainLink => ({
  seq: previous.seq + 1,
  hash: sha256(`${previous.hash}\n${linked}`),
});
