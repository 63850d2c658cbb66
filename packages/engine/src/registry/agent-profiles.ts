// The agent of a token, with its profile, from memory where possible. The memory is dropped by a ring of the registry, and after
// a few seconds in any case (I13: a ring can be lost).

import type { Delegation, Party } from "../delegation/delegation.ts";
import type { Ground } from "../ports/ground.ts";
import { createRecent } from "../recent/recent.ts";

export interface AgentProfiles {
  /** Undefined for an agent the project does not have. */
  find(projectId: string, agentId: string): Promise<Party | undefined>;
  close(): void;
}

export interface AgentProfilesDeps extends Pick<Ground, "db" | "doorbell" | "clock"> {
  readonly delegation: Pick<Delegation, "readParties">;
}

const MAX_REMEMBERED = 1_000;
/** As for tokens: where the ring was lost, a removed right works at most this much longer. */
const REMEMBER_MS = 5_000;

export const createAgentProfiles = ({ db, delegation, doorbell, clock }: AgentProfilesDeps): AgentProfiles => {
  const known = createRecent<{ readonly party: Party; readonly until: number }>(MAX_REMEMBERED);
  let generation = 0;
  const stopListening = doorbell.listen("registry", () => {
    generation += 1;
    known.clear();
  });
  return {
    async find(projectId, agentId) {
      // Ids of projects and agents have no blanks.
      const key = `${projectId} ${agentId}`;
      const found = known.get(key);
      if (found !== undefined && found.until > clock.now()) return found.party;
      const before = generation;
      const until = clock.now() + REMEMBER_MS;
      const party = (await delegation.readParties(projectId, { agentIds: [agentId] }, db)).agents.get(agentId);
      // A ring came meanwhile: what was read may be the state before the change.
      if (party !== undefined && before === generation) known.set(key, { party, until });
      return party;
    },
    close: stopListening,
  };
};
