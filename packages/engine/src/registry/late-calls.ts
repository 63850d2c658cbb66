// Calls that were being written while a limit or a pause was set: the statement that writes a call reads its tool without a lock, so it may
// have read the tool before the change and commit after it.
//   LQ1. The change waits for calls that are being written. A call never waits for a change, so a dispatch costs no more than without this.
//   LQ2. After its commit the change reads which transactions write calls at this moment, and waits until each of them has ended. A statement
//        that has not seen the change took its snapshot before the commit, and it had locked the table of calls before that. So it is one of
//        them or has ended, and a look after the wait finds what it wrote. Later statements see the change.
//   LQ3. No lock is held during the wait, and transactions that only read calls (a backup) are not waited for.
//   LQ4. A transaction that does not end gives an error: the change stands, and is not confirmed. The same change again waits again.

import { ToolplaneError } from "@toolplane/protocol";
import type { Ground } from "../ports/ground.ts";
import type { Statement } from "../sql/database.ts";
import { GATE_CALLS, GATE_PROJECT_CALLS, READ_CALL_WRITERS, type WriterRow } from "./late-calls.sql.ts";
import { HOLD_PAUSED } from "./tools.sql.ts";
import { withProject } from "./with-project.ts";

export interface LateCalls {
  /** After the commit that gave these tools limits. */
  gateTools(projectId: string, toolNames: readonly string[]): Promise<void>;
  /** After the commit that gave the project a limit. */
  gateProject(projectId: string): Promise<void>;
  /** After the commit that paused the tool. */
  hold(projectId: string, toolName: string): Promise<void>;
}

/** Our transactions take milliseconds. */
const FIRST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 50;
/** A process that stands still in a transaction loses it after 10 s. */
const GIVE_UP_MS = 30_000;

const notConfirmed = (): ToolplaneError =>
  new ToolplaneError(
    "storage_error",
    `the change is stored, but a transaction that writes calls has not ended for ${GIVE_UP_MS / 1_000} s, and what it writes may not follow the change; send the change again`,
  );

export const createLateCalls = ({ db, clock, doorbell }: Pick<Ground, "db" | "clock" | "doorbell">): LateCalls => {
  const waitForWriters = async (): Promise<void> => {
    const read = async (known: readonly string[] | null): Promise<readonly string[]> =>
      (await db.query<WriterRow>(READ_CALL_WRITERS, [known])).map(({ writer }) => writer);
    const until = clock.now() + GIVE_UP_MS;
    let waitMs = FIRST_WAIT_MS;
    for (let writers = await read(null); writers.length > 0; writers = await read(writers)) {
      if (clock.now() >= until) throw notConfirmed();
      await clock.sleep(waitMs);
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    }
  };

  const catchUp = async (projectId: string, statement: Statement, values: readonly unknown[]): Promise<void> => {
    // The change is stored: other processes shall hear of it now, whether or not it is confirmed in the end.
    doorbell.ring("registry");
    doorbell.ring("sessions");
    await waitForWriters();
    await withProject(db, projectId, (tx) => tx.query(statement, values));
  };

  return {
    gateTools: (projectId, toolNames) => catchUp(projectId, GATE_CALLS, [projectId, toolNames]),
    gateProject: (projectId) => catchUp(projectId, GATE_PROJECT_CALLS, [projectId]),
    hold: (projectId, toolName) => catchUp(projectId, HOLD_PAUSED, [projectId, toolName]),
  };
};
