// The terminal guard: before submit_result or a terminating tool ends a turn, its agent's inbox is checked while the head is
// held. Rows of ended turns and of older epochs change nothing (I2) and are consumed here. Any other row is a message that the
// turn has not seen, and the end is refused with `inbox_not_empty` until the inbox was drained.
//   A turn that waits in line is no such row: it begins when this one has ended.

import { ToolplaneError } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import { inboxChange } from "./plan-head.ts";
import { bindGuarded, type GuardedKey, type OpenRow, READ_OPEN_ROWS } from "./terminal-guard.sql.ts";
import type { HeadRow } from "./turn-row.ts";
import type { InboxChange } from "./turn-write-rows.sql.ts";

export interface GuardPlan {
  /** Closes the rows that no longer concern the turn. */
  readonly changes: readonly InboxChange[];
  /** How many rows are left that the turn has not read. */
  readonly open: number;
}

const isOver = (head: HeadRow, row: OpenRow): boolean =>
  row.turn_ended || (row.agent_turn_id === head.active_agent_turn_id && row.turn_epoch < head.turn_epoch);

const planGuard = (head: HeadRow, rows: readonly OpenRow[]): GuardPlan => {
  const over = rows.filter((row) => isOver(head, row));
  return {
    changes: over.map((row) =>
      inboxChange({ projectId: head.project_id, inboxId: row.inbox_id }, { status: "consumed", reason: "not_current" }),
    ),
    open: rows.length - over.length,
  };
};

/** In the order asked. The caller holds the heads. */
export const readGuards = async (
  tx: Queryer,
  asked: readonly { readonly head: HeadRow; readonly key: GuardedKey }[],
): Promise<readonly GuardPlan[]> => {
  if (asked.length === 0) return [];
  const rows = await tx.query<OpenRow>(READ_OPEN_ROWS, bindGuarded(asked.map(({ key }) => key)));
  const byOrd = Map.groupBy(rows, ({ ord }) => ord);
  return asked.map(({ head }, index) => planGuard(head, byOrd.get(index + 1) ?? []));
};

export const inboxNotEmpty = (open: number): ToolplaneError =>
  new ToolplaneError(
    "inbox_not_empty",
    `the turn cannot end yet: ${open} message${open === 1 ? " waits" : "s wait"} in the agent's inbox; look at what came, then end it again`,
  );
