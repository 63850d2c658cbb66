// How long messages are kept, and what goes with them.

import { type FaultPoint, noFaults, trimMessages } from "@toolplane/engine/internal";
import { appendMessages, meddle } from "@toolplane/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPostgresHarness, type PostgresHarness, type PostgresProcess } from "./postgres-harness.ts";

let harness: PostgresHarness;
let engine: PostgresProcess;
beforeEach(async () => {
  harness = await openPostgresHarness();
  engine = harness.start();
});
afterEach(async () => {
  await harness.close();
});

const write = (category: "cmd.tool" | "evt.agent", ...payloads: readonly string[]) =>
  appendMessages(
    engine.db,
    payloads.map((payload) => ({ subject: `cg.v1r4.p1.public.${category}.desk.work`, headers: {}, payload })),
  );

const age = (interval: string, ...payloads: readonly string[]) =>
  meddle(harness.database.url, "ageMessages", [interval, payloads]);

const left = async (): Promise<unknown[]> =>
  (await harness.rows("select payload from bus.messages order by id")).map(({ payload }) => payload);

test("[UTP-1.3-19] [ARCH-6-38] commands are kept for a day and events for a week", async () => {
  await write("cmd.tool", "cmd 23h", "cmd 25h");
  await write("evt.agent", "evt 6d", "evt 8d");
  await age("23 hours", "cmd 23h");
  await age("25 hours", "cmd 25h");
  await age("6 days", "evt 6d");
  await age("8 days", "evt 8d");
  expect(await trimMessages({ db: engine.db, faults: noFaults })).toEqual({ commands: 1, events: 1, sentEvents: 0 });
  expect(await left()).toEqual(["cmd 23h", "evt 6d"]);
});

test("[ARCH-6-38] much is trimmed in small bites, and stopping stops between them", async () => {
  const payloads = Array.from({ length: 95 }, (_, n) => `old ${n}`);
  await write("evt.agent", ...payloads, "young");
  await age("8 days", ...payloads);
  const points: FaultPoint[] = [];
  const stop = new AbortController();
  const faults = {
    at: (point: FaultPoint) => {
      points.push(point);
      if (points.filter((reached) => reached === "retain:after-commit").length === 4) stop.abort();
    },
  };
  const first = await trimMessages({ db: engine.db, faults, limit: 10, signal: stop.signal });
  // One look at the commands, then three bites of events.
  expect(first).toEqual({ commands: 0, events: 30, sentEvents: 0 });
  const rest = await trimMessages({ db: engine.db, faults: noFaults, limit: 10 });
  expect(rest).toEqual({ commands: 0, events: 65, sentEvents: 0 });
  expect(await left()).toEqual(["young"]);
});
