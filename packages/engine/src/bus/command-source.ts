// The work queue: commands of the message table that match a pattern.

import type { ConsumePlan } from "@toolplane/bus";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Queryer } from "../sql/database.ts";
import { type ClaimSource, EXHAUSTED, planClaimRound } from "./claim.ts";
import { CLAIM_OF_TARGET, CLAIM_WIDELY, type ClaimedRow } from "./commands.sql.ts";
import { planSubjectFilter } from "./subject-filter.ts";

export interface SourceDeps {
  readonly db: Queryer;
  readonly ids: Ids;
  readonly faults: Faults;
}

/** Every component that commands are sent to; a pattern open in it means any of these. */
const COMMAND_COMPONENTS = ["agent", "sys", "tool", "user"];

export const createCommandSource = ({ db, ids, faults }: SourceDeps, plan: ConsumePlan): ClaimSource => {
  const { component, target, regex } = planSubjectFilter(plan.pattern);
  const named = component !== undefined && target !== undefined;
  const statement = named ? CLAIM_OF_TARGET : CLAIM_WIDELY;
  const place = named
    ? [component, target]
    : [component === undefined ? COMMAND_COMPONENTS : [component], target ?? null];

  return {
    async claim(limit) {
      const claimId = ids.uuid();
      const { ackWaitMs, maxDeliver } = plan;
      await faults.at("deliver:before-commit");
      const rows = await db.query<ClaimedRow>(statement, [
        ...place,
        regex,
        limit,
        claimId,
        ackWaitMs,
        maxDeliver,
        EXHAUSTED.code,
        EXHAUSTED.reason,
      ]);
      await faults.at("deliver:after-commit");
      return { ...planClaimRound(rows, { durable: undefined, claimId }), more: false };
    },
  };
};
