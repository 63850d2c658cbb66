// A database changes its carrier when an engine is started with another one.
//   To an external bus: the events in the log at that moment were delivered already, and are not sent again by the million. They
//   move to the events that have left, in steps, before the relay begins. Waiting commands are relayed.
//   Back to the database: the rows of calls and inboxes are claimed as they are. Wakeups that have not left, or that an earlier
//   version wrote here, are dropped: a worker looks at what is due when it starts.

import type { Ids } from "../ports/ids.ts";
import type { Queryer } from "../sql/database.ts";
import { DROP_COMMANDS, MOVE_OLD_EVENTS, type MovedRow, SET_CARRIER } from "./take-over.sql.ts";

/** Some tens of milliseconds of work per statement. */
const STEP = 2_000;

export const setCarrier = async (db: Queryer, kind: "postgres" | "external", ids: Ids): Promise<void> => {
  await db.query(SET_CARRIER, [kind]);
  if (kind === "postgres") await db.query(DROP_COMMANDS, [ids.uuid()]);
};

/** Any number of processes may do it at once, and one that dies leaves the rest to the next. */
export const moveOldEvents = async (db: Queryer, signal: AbortSignal): Promise<void> => {
  let more = true;
  while (more && !signal.aborted) more = (await db.query<MovedRow>(MOVE_OLD_EVENTS, [STEP]))[0]?.more ?? false;
};
