// A database changes its carrier when an engine is started with another one.
//   To an external bus: the events in the log at that moment were delivered already, and are not sent again by the million. They
//   move to the events that have left, in steps, before the relay begins. Waiting commands are relayed. A queued call that has no
//   command becomes due, and the watchdog publishes its command. Each start with the bus looks for such calls, so it does not matter how a
//   call came to have none.
//   Back to the database: the rows of calls and inboxes are claimed as they are. Wakeups that have not left, or that an earlier
//   version wrote here, are dropped: a worker looks at what is due when it starts.

import type { Ids } from "../ports/ids.ts";
import type { Queryer, Statement } from "../sql/database.ts";
import { DROP_COMMANDS, MAKE_UNSENT_DUE, MOVE_OLD_EVENTS, type MovedRow, SET_CARRIER } from "./take-over.sql.ts";

/** Some tens of milliseconds of work per statement. */
const STEP = 2_000;

export const setCarrier = async (db: Queryer, kind: "postgres" | "external", ids: Ids): Promise<void> => {
  await db.query(SET_CARRIER, [kind]);
  if (kind === "postgres") await db.query(DROP_COMMANDS, [ids.uuid()]);
};

const inSteps = async (db: Queryer, statement: Statement, signal: AbortSignal): Promise<void> => {
  let more = true;
  while (more && !signal.aborted) more = (await db.query<MovedRow>(statement, [STEP]))[0]?.more ?? false;
};

/** Any number of processes may do it at once, and one that dies leaves the rest to the next. */
export const takeOver = async (db: Queryer, signal: AbortSignal): Promise<void> => {
  await inSteps(db, MOVE_OLD_EVENTS, signal);
  await inSteps(db, MAKE_UNSENT_DUE, signal);
};
