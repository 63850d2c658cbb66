// Services that never lease, under limits: where a bus beside the database carries commands, the plane holds the command of a limited call
// back and sends it when its gate lets it pass.
//   HQ1. The row waits in the queue of its gate, as the calls of services that lease do, and passes by the same plan: slots, tokens,
//        breakers, lanes. Only what happens then differs: its command leaves, and the call counts as running until it settles.
//   HQ2. Every process may send: the lock of the project makes them wait for each other, and a row is sent once.
//   HQ3. Projects do not wait for each other: each has a transaction of its own, and a look begins where the last one ended.
//   HQ4. A bell wakes the loop: a limited call was made, a slot is free. When time alone opens a gate, it rests until then. A lost bell
//        costs seconds (I13). A plane without such calls pays one look at an empty index, and only for bells of limited calls.

import { createAlarm } from "../bus/alarm.ts";
import type { Ground } from "../ports/ground.ts";
import type { TargetKey } from "../sessions/session-targets.ts";
import type { Gates } from "./gates.ts";
import { type HeldPlaceRow, MOST_PLACES, READ_HELD_PLACES } from "./held-calls.sql.ts";

export interface HeldCalls {
  stop(): Promise<void>;
}

export interface HeldCallsDeps extends Pick<Ground, "db" | "doorbell" | "clock" | "log"> {
  readonly gates: Pick<Gates, "send" | "wakeIn">;
}

const LOOK_AGAIN_MS = 5_000;
const LEAST_WAIT_MS = 1;
const START: TargetKey = { projectId: "", target: "" };

export const sendHeldCalls = ({ db, gates, doorbell, clock, log }: HeldCallsDeps): HeldCalls => {
  const alarm = createAlarm(clock);
  const stopBell = doorbell.listen("sessions", () => alarm.wake());
  let isStopping = false;
  /** Projects whose commands could not be sent, and "" while the places cannot be read: said once. */
  const away = new Set<string>();
  let behind = START;
  /** Milliseconds until a gate opens by time alone, of all places since the walk began. */
  let soonest = LOOK_AGAIN_MS;

  const tryFor = async <T>(project: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      const done = await work();
      away.delete(project);
      return done;
    } catch (error) {
      if (!away.has(project))
        log.warn("commands of limited calls wait, and are tried again", { project, reason: String(error) });
      away.add(project);
      return otherwise;
    }
  };

  const sendOf = (places: readonly TargetKey[]): Promise<number> => {
    const byProject = Map.groupBy(places, ({ projectId }) => projectId);
    return [...byProject].reduce<Promise<number>>(
      async (sent, [project, own]) => (await sent) + (await tryFor(project, () => gates.send(own), 0)),
      Promise.resolve(0),
    );
  };

  /** Milliseconds until the next look. */
  const round = async (): Promise<number> => {
    const rows = await tryFor(
      "",
      () => db.query<HeldPlaceRow>(READ_HELD_PLACES, [behind.projectId, behind.target]),
      [],
    );
    const places = rows.map(({ project_id: projectId, target }): TargetKey => ({ projectId, target }));
    const isWhole = places.length < MOST_PLACES;
    behind = isWhole ? START : (places.at(-1) ?? START);
    const sent = await sendOf(places);
    // There may be room for more.
    if (sent > 0) {
      doorbell.ring("messages");
      doorbell.ring("events", "here");
    }
    soonest = Math.min(soonest, ...places.map((place) => gates.wakeIn(place) ?? LOOK_AGAIN_MS));
    if (sent > 0 || !isWhole) return 0;
    const ms = soonest;
    soonest = LOOK_AGAIN_MS;
    return ms;
  };

  const run = async (): Promise<void> => {
    while (!isStopping) {
      alarm.rest();
      const ms = await round();
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
