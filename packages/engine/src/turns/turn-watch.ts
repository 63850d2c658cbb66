// Waits for turns to end.

import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Queryer } from "../sql/database.ts";
import { createEndWatch, type EndWatch } from "../waiting/end-watch.ts";
import type { EndedKey, EndNews, TurnKey } from "./turn.ts";
import { bindTurnKeys, READ_ENDED } from "./turn-reads.sql.ts";

export interface TurnWatch extends Omit<EndWatch<TurnKey, EndNews>, "tell"> {
  /** Called after a commit of this process. */
  ended(turn: EndedKey): void;
}

export const createTurnWatch = (deps: {
  readonly db: Queryer;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
}): TurnWatch => {
  const { tell, ...watch } = createEndWatch<TurnKey, EndNews>({
    ...deps,
    // The end of a turn is an event, and events ring.
    rungBy: "messages",
    nameOf: (key) => `${key.projectId}/${key.agentTurnId}`,
    findOver: async (keys) => {
      const rows = await deps.db.query<{ ord: number }>(READ_ENDED, bindTurnKeys(keys));
      return rows.flatMap(({ ord }) => {
        const key = keys[ord - 1];
        return key === undefined ? [] : [{ key }];
      });
    },
  });
  return { ...watch, ended: (turn) => tell(turn, turn.news) };
};
