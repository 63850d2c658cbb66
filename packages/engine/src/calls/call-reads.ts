// Reads calls. Requests for single calls (by callers whose wait is over, by pages that show one) share a statement with others
// of the same moment.
//   A read is sent after it was asked for, never before: it sees everything that was committed until then.

import { showName, ToolplaneError } from "@toolplane/protocol";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import { notThere, readTombstones } from "../history/tombstones.ts";
import type { Queryer } from "../sql/database.ts";
import { type CallKey, type CallView, callKey } from "./call.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "./read.sql.ts";

export interface CallReads {
  /** In the order asked; what does not exist is left out. */
  find(keys: readonly CallKey[]): Promise<readonly CallView[]>;
  readonly one: Coalescer<CallKey, CallView>;
}

export const noCall = (key: CallKey): ToolplaneError =>
  new ToolplaneError("not_found", `there is no call ${showName(key.toolCallId)} in this project`);

export const createCallReads = (db: Queryer): CallReads => {
  const find = async (keys: readonly CallKey[]): Promise<readonly CallView[]> =>
    keys.length === 0 ? [] : (await db.query<ViewRow>(READ_CALLS, bindKeys(keys))).map(viewOf);

  // No keys: a read locks nothing, and two requests for the same call may share the answer.
  const one = createCoalescer<CallKey, CallView>({
    flush: async (keys) => {
      const views = new Map((await find(keys)).map((view) => [callKey(view), view]));
      const missing = keys.filter((key) => !views.has(callKey(key)));
      const tombstones = await readTombstones(
        db,
        missing.map(({ projectId, toolCallId }) => ({ projectId, agentTurnId: `turn_${toolCallId}` })),
      );
      const errors = new Map(
        missing.map((key, index) => [callKey(key), notThere("call", key.toolCallId, tombstones[index])]),
      );
      return keys.map((key) => views.get(callKey(key)) ?? errors.get(callKey(key)) ?? noCall(key));
    },
  });
  return { find, one };
};
