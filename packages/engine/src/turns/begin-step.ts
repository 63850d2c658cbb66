// The beginning of a step: its row and its event, once, however often it is reported. A step that was begun and never committed
// begins again under the same id, without a second event. The step that comes with taken work begins in the transaction that
// takes it; this one is for later steps.

import { claimLost, holdWork } from "./claimed-work.ts";
import { announce, createHeadCoalescer, meansOf, type TurnDeps } from "./held-heads.ts";
import { mergeWrites } from "./ledger.ts";
import { stepOf } from "./step-row.ts";
import type { AgentKey, Work } from "./turn.ts";
import type { TurnMeans } from "./turn-event.ts";
import { stepEvent } from "./turn-messages.ts";
import type { TurnRow } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { commitTurns, createTurnWrites, NOTHING_WRITTEN } from "./turn-writes.ts";

interface BeginItem extends AgentKey {
  readonly work: Work;
  readonly stepId: string;
}

/** The row of a step that begins, and its event. */
export const beginStep = (writes: TurnWrites, turn: TurnRow, epoch: number, stepId: string, means: TurnMeans): void => {
  writes.steps.push(stepOf(turn, { stepId, status: "started", ended: false }));
  writes.messages.push(stepEvent(turn, epoch, { stepId, phase: "started" }, means));
};

export const createBeginStep = (deps: TurnDeps) => {
  const flush = async (items: readonly BeginItem[]): Promise<readonly (undefined | Error | "locked")[]> => {
    const done = await deps.db.transaction(async (tx) => {
      const held = await holdWork(tx, items);
      const means = meansOf(deps);
      const parts: TurnWrites[] = [];
      const outcomes = items.map(({ work, stepId }, index): undefined | Error | "locked" => {
        const one = held[index];
        if (one === "locked") return "locked";
        if (one === undefined || (!one.current && one.turn.step_status === null)) return claimLost(work);
        if (one.turn.step_status !== null) return undefined;
        const writes = createTurnWrites();
        beginStep(writes, one.turn, one.head.turn_epoch, stepId, means);
        parts.push(writes);
        return undefined;
      });
      await deps.faults.at("begin:before-commit");
      await commitTurns(tx, mergeWrites(parts), deps);
      return { outcomes, rang: parts.length > 0 };
    });
    await deps.faults.at("begin:after-commit");
    announce(deps, { ended: [], rang: done.rang, ...NOTHING_WRITTEN });
    return done.outcomes;
  };

  const coalescer = createHeadCoalescer<BeginItem, undefined>({ flush }, deps.clock);
  return {
    coalescer,
    submit: (work: Work, stepId: string): Promise<undefined> =>
      coalescer.submit({ projectId: work.projectId, agentId: work.agentId, work, stepId }),
  };
};
