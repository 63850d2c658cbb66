// Who may send: every intent names its source, and the source must belong to the project it speaks to.
// `sys.` and `tool.` ids are actors of the plane itself; everybody else must be an active agent of the roster. One that
// was deactivated is refused like one that never was (W-17). That a caller really is who it says is the door's matter.

import { isToken, isTrustedActor, ToolplaneError, violation } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import { READ_ACTIVE_AGENTS } from "./agents.sql.ts";

export interface SourceClaim {
  /** The project the intent is about. */
  readonly projectId: string;
  readonly source: { readonly projectId: string; readonly agentId: string };
}

const refusedByForm = ({ projectId, source }: SourceClaim): ToolplaneError | undefined => {
  if (source.agentId === "") return violation("an intent names its source agent");
  if (source.projectId !== projectId) return violation("the source belongs to another project");
  return undefined;
};

const unknownActor = ({ projectId, source }: SourceClaim): ToolplaneError =>
  new ToolplaneError(
    "invalid_source_actor",
    `${isToken(source.agentId) ? source.agentId : "the source"} is not an active agent of project ${projectId}`,
  );

/** An error for each claim that does not hold, undefined for each that does. */
export const checkSources = async (
  db: Queryer,
  claims: readonly SourceClaim[],
): Promise<readonly (ToolplaneError | undefined)[]> => {
  const outcomes = claims.map(refusedByForm);
  const asked: number[] = [];
  for (const [index, claim] of claims.entries()) {
    if (outcomes[index] !== undefined || isTrustedActor(claim.source.agentId)) continue;
    outcomes[index] = unknownActor(claim);
    if (isToken(claim.source.agentId) && isToken(claim.projectId)) asked.push(index);
  }
  if (asked.length === 0) return outcomes;
  const chosen = asked.map((index) => claims[index]).filter((claim) => claim !== undefined);
  const rows = await db.query<{ ord: number }>(READ_ACTIVE_AGENTS, [
    chosen.map(({ projectId }) => projectId),
    chosen.map(({ source }) => source.agentId),
  ]);
  for (const { ord } of rows) {
    const index = asked[ord - 1];
    if (index !== undefined) outcomes[index] = undefined;
  }
  return outcomes;
};

/** Throws `protocol_violation` or `invalid_source_actor`. */
export const validateSource = async (db: Queryer, claim: SourceClaim): Promise<void> => {
  const [refused] = await checkSources(db, [claim]);
  if (refused !== undefined) throw refused;
};
