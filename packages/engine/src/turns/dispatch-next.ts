// Dispatch-next on its own: for an agent that is idle while a turn waits. Spawning and ending do it by themselves.

import { announce, meansOf, type TurnDeps } from "./held-heads.ts";
import { mergeWrites } from "./ledger.ts";
import { planDispatch } from "./plan-dispatch.ts";
import type { AgentKey } from "./turn.ts";
import type { HeadRow, QueuedRow } from "./turn-row.ts";
import { writeTurns } from "./turn-writes.ts";
import { bindAgents, LOCK_HEADS, READ_QUEUED } from "./turns.sql.ts";

/** True when a turn was dispatched. */
export const createDispatchNext =
  (deps: TurnDeps) =>
  async (agent: AgentKey): Promise<boolean> => {
    const done = await deps.db.transaction(async (tx) => {
      const [head] = await tx.query<HeadRow>(LOCK_HEADS, bindAgents([agent]));
      if (head?.status !== "idle") return undefined;
      const queue = await tx.query<QueuedRow>(READ_QUEUED, bindAgents([agent]));
      const next = planDispatch(head, head.turn_epoch, queue, meansOf(deps));
      const written = await writeTurns(tx, mergeWrites(next.parts), deps);
      await deps.faults.at("reap:before-commit");
      return { ended: next.ended, rang: true, ...written, dispatched: next.dispatched !== undefined };
    });
    if (done === undefined) return false;
    await deps.faults.at("reap:after-commit");
    announce(deps, done);
    return done.dispatched;
  };
