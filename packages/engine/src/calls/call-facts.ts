// Facts of calls from memory: facts never change, so what a lease has read serves the settlement that follows in the same
// process. Bounded; a miss costs one set-based read.

import { createRecent } from "../recent/recent.ts";
import type { Queryer } from "../sql/database.ts";
import { type CallFacts, type CallKey, callKey } from "./call.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "./read.sql.ts";

export interface FactMemory {
  remember(facts: CallFacts): void;
  forget(key: CallKey): void;
  /** In the order asked; undefined where there is no such call in that project (I7). */
  recall(keys: readonly CallKey[]): Promise<readonly (CallFacts | undefined)[]>;
}

// A few kilobytes each: as many as can sensibly run in one process at once.
const MAX_REMEMBERED = 4_096;

export const createFactMemory = (db: Queryer): FactMemory => {
  const known = createRecent<CallFacts>(MAX_REMEMBERED);
  return {
    remember: (facts) => known.set(callKey(facts), facts),
    forget: (key) => known.delete(callKey(key)),
    async recall(keys) {
      const found = keys.map((key) => known.get(callKey(key)));
      const missing = keys.filter((_, index) => found[index] === undefined);
      if (missing.length === 0) return found;
      const rows = await db.query<ViewRow>(READ_CALLS, bindKeys(missing));
      const read = new Map(rows.map((row) => viewOf(row)).map((view) => [callKey(view), view]));
      return keys.map((key, index) => found[index] ?? read.get(callKey(key)));
    },
  };
};
