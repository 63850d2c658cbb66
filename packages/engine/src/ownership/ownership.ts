// The owners of turns, calls, cards and boxes. An agent owns what it made, what it was given and what it started: its turns and
// those that were asked for in them (however far down), the calls of these turns and its own, the boxes these turns begin with
// and write into, the cards it wrote, those of its calls and turns, and all cards in the boxes of its own turns.
//   OW0. A box of a turn that the agent only started may hold cards of others: ownership of cards is checked per card.
//   OW1. A thing that cannot be found is not owned, nor is a thing of another project.
//   OW2. Any number of ids is one statement, by keys.
//   OW3. The owner of a turn never changes, so a stream that asks for the same turns again needs no statement.

import { isPossibleId } from "../cards/possible-id.ts";
import { createRecent } from "../recent/recent.ts";
import type { Queryer, Statement } from "../sql/database.ts";
import { OWN_BOXES, OWN_CALLS, OWN_CARDS, OWN_TURNS, type OwnershipRow } from "./ownership.sql.ts";

export const OWNED_KINDS = ["turn", "call", "card", "box"] as const;
export type OwnedKind = (typeof OWNED_KINDS)[number];

export interface Owner {
  readonly projectId: string;
  readonly agentId: string;
}

export interface Ownership {
  /** For each id that exists in the project: whether it is the agent's. */
  of(kind: OwnedKind, owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, boolean>>;
  /** Those of the turns that are the agent's, from memory where they were asked for before. */
  ownTurns(owner: Owner, turnIds: readonly string[]): Promise<ReadonlySet<string>>;
}

const STATEMENTS: Readonly<Record<OwnedKind, Statement>> = {
  turn: OWN_TURNS,
  call: OWN_CALLS,
  card: OWN_CARDS,
  box: OWN_BOXES,
};

/** A hundred bytes each: the turns of a busy hour for a few dozen readers. */
const MAX_REMEMBERED = 20_000;

export const createOwnership = (db: Queryer): Ownership => {
  const known = createRecent<{ readonly own: boolean }>(MAX_REMEMBERED);

  const of: Ownership["of"] = async (kind, { projectId, agentId }, ids) => {
    const possible = [...new Set(ids)].filter(isPossibleId);
    if (possible.length === 0) return new Map();
    const rows = await db.query<OwnershipRow>(STATEMENTS[kind], [projectId, agentId, possible]);
    return new Map(rows.map(({ id, own }) => [id, own]));
  };

  return {
    of,
    async ownTurns(owner, turnIds) {
      // Neither ids of projects nor of agents have blanks.
      const keyOf = (turnId: string): string => `${owner.projectId} ${owner.agentId} ${turnId}`;
      const asked = [...new Set(turnIds)];
      const unknown = asked.filter((turnId) => known.get(keyOf(turnId)) === undefined);
      if (unknown.length > 0) {
        const found = await of("turn", owner, unknown);
        // A turn exists before anything is said about it: a turn that does not exist has no owner.
        for (const turnId of unknown) known.set(keyOf(turnId), { own: found.get(turnId) ?? false });
      }
      return new Set(asked.filter((turnId) => known.get(keyOf(turnId))?.own === true));
    },
  };
};
