// A durable's share of the event log. Reading on is fan-out (log -> deliveries, one reader of a durable at a time) and
// then the same claiming as for commands, so any number of processes compete for the deliveries.

import type { ConsumePlan } from "@toolplane/bus";
import { ToolplaneError } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import { type ClaimSource, EXHAUSTED, planClaimRound } from "./claim.ts";
import type { SourceDeps } from "./command-source.ts";
import type { ClaimedRow } from "./commands.sql.ts";
import { CLAIM_DELIVERIES, DROP_DURABLE, ENSURE_DURABLE, FAN_OUT, type FanOutRow } from "./events.sql.ts";
import { planSubjectFilter } from "./subject-filter.ts";

export interface EventSourceDeps extends SourceDeps {
  /** Called when one read of the log brought more than this consumer asked for: others should come and help. */
  readonly abundance: () => void;
}

/** Rows of the log read at once: a few milliseconds, and enough that reading is never slower than handling. */
const PAGE = 500;

/** Makes the durable where it does not exist; refuses one that belongs to another pattern (B11). */
export const ensureDurable = async (db: Queryer, plan: ConsumePlan): Promise<void> => {
  const [row] = await db.query<{ pattern: string }>(ENSURE_DURABLE, [
    plan.durable,
    plan.pattern.text,
    plan.deliver === "all",
  ]);
  if (row?.pattern === plan.pattern.text) return;
  throw new ToolplaneError("conflict", `durable ${plan.durable} belongs to another pattern`, {
    detail: { durable: plan.durable, pattern: row?.pattern, wanted: plan.pattern.text },
  });
};

export const dropDurable = async (db: Queryer, durable: string): Promise<void> => {
  await db.query(DROP_DURABLE, [durable]);
};

export const createEventSource = (deps: EventSourceDeps, plan: ConsumePlan): ClaimSource => {
  const { db, ids, faults, abundance } = deps;
  const { durable, ackWaitMs, maxDeliver } = plan;
  const { regex } = planSubjectFilter(plan.pattern);
  // While the durable still has deliveries nobody took, reading on would only copy the log.
  let backlog = false;

  /** Whether the log may have more to read at once. */
  const readOn = async (limit: number): Promise<boolean> => {
    const [round] = await db.query<FanOutRow>(FAN_OUT, [durable, regex, PAGE]);
    if (round === undefined) return false;
    if (round.delivered > limit) abundance();
    return round.read >= PAGE || (round.locked === 1 && round.held === 0);
  };

  return {
    async claim(limit) {
      const claimId = ids.uuid();
      await faults.at("deliver:before-commit");
      const more = backlog ? true : await readOn(limit);
      await faults.at("deliver:after-fan-out");
      const values = [durable, limit, claimId, ackWaitMs, maxDeliver, EXHAUSTED.code, EXHAUSTED.reason];
      const rows = await db.query<ClaimedRow>(CLAIM_DELIVERIES, values);
      await faults.at("deliver:after-commit");
      const round = planClaimRound(rows, { durable, claimId });
      backlog = round.messages.length + round.buried >= limit;
      return { ...round, more };
    },
  };
};
