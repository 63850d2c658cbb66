// Services that never lease, under limits: where a bus beside the database carries commands, the plane holds the command of a limited call
// back and sends it when its gate lets it pass.
//   HC1. The row waits in the queue of its gate, as the calls of services that lease do, and passes by the same plan: slots, tokens,
//        breakers, lanes. Only what happens then differs: its command leaves, and the call counts as running until it settles.
//   HC2. Every process may send: the lock of the project makes them wait for each other, and a row is sent once.
//   HC3. A bell wakes the loop: a limited call was made, a slot is free. When time alone opens a gate, it rests until then. A lost bell
//        costs seconds (I13). A plane without such calls pays one look at an empty index, and only for bells of limited calls.

import { createAlarm } from "../bus/alarm.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Log } from "../ports/log.ts";
import type { TargetKey } from "../sessions/session-targets.ts";
import type { Database } from "../sql/database.ts";
import type { Gates } from "./gates.ts";
import { type HeldPlaceRow, READ_HELD_PLACES } from "./held-calls.sql.ts";

export interface HeldCalls {
  stop(): Promise<void>;
}

export interface HeldCallsDeps {
  readonly db: Database;
  readonly gates: Pick<Gates, "send" | "wakeIn">;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_AGAIN_MS = 5_000;
const LEAST_WAIT_MS = 1;

export const sendHeldCalls = ({ db, gates, doorbell, clock, log }: HeldCallsDeps): HeldCalls => {
  const alarm = createAlarm(clock);
  const stopBell = doorbell.listen("sessions", () => alarm.wake());
  let isStopping = false;
  let isAway = false;

  /** Milliseconds until the next look. */
  const round = async (): Promise<number> => {
    const rows = await db.query<HeldPlaceRow>(READ_HELD_PLACES);
    const places = rows.map(({ project_id: projectId, target }): TargetKey => ({ projectId, target }));
    if (places.length === 0) return LOOK_AGAIN_MS;
    const sent = await gates.send(places);
    if (sent > 0) {
      doorbell.ring("messages");
      // There may be room for more.
      return 0;
    }
    return Math.min(LOOK_AGAIN_MS, ...places.map((place) => gates.wakeIn(place) ?? LOOK_AGAIN_MS));
  };

  const tryRound = async (): Promise<number> => {
    try {
      const ms = await round();
      isAway = false;
      return ms;
    } catch (error) {
      if (!isAway) log.warn("commands of limited calls wait: the database does not answer", { reason: String(error) });
      isAway = true;
      return LOOK_AGAIN_MS;
    }
  };

  const run = async (): Promise<void> => {
    while (!isStopping) {
      alarm.rest();
      const ms = await tryRound();
      if (!isStopping && ms > 0) await alarm.wait(Math.max(ms, LEAST_WAIT_MS));
    }
  };
  const running = run();

  return {
    async stop() {
      isStopping = true;
      stopBell();
      alarm.wake();
      await running;
    },
  };
};
