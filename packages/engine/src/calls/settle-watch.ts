// Those who wait for calls to settle.

import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Queryer } from "../sql/database.ts";
import { createEndWatch, type EndWatch } from "../waiting/end-watch.ts";
import { type CallKey, callKey } from "./call.ts";
import { bindKeys, READ_SETTLED } from "./read.sql.ts";

export interface SettleWatch extends Omit<EndWatch<CallKey>, "tell"> {
  /** Called after a commit of this process. */
  settled(key: CallKey): void;
}

export const createSettleWatch = (deps: {
  readonly db: Queryer;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
}): SettleWatch => {
  const { tell, ...watch } = createEndWatch<CallKey>({
    ...deps,
    rungBy: "settled",
    nameOf: callKey,
    findOver: async (keys) => {
      const rows = await deps.db.query<{ ord: number }>(READ_SETTLED, bindKeys(keys));
      return rows.flatMap(({ ord }) => keys[ord - 1] ?? []);
    },
  });
  return { ...watch, settled: tell };
};
