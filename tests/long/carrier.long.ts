// One process after the other dies by SIGKILL at each point of what an engine does beside its carrier. In the end every
// message was on the server once, and the commands of claimed calls are gone from it.

import { CARRIER_FAULT_POINTS, type FaultPoint } from "@toolplane/engine/internal";
import { expect, test } from "vitest";
import { openMortalRelay } from "../carrier/mortal-relay.ts";
import { openNatsGround } from "../carrier/nats-world.ts";

const RELAY_POINTS: readonly FaultPoint[] = ["relay:after-claim", "relay:after-publish", "relay:after-mark"];
/** More than all lives fetch before they die, 256 each: whoever comes next finds some. */
const CALLS = 1_500;
const EVENTS = 100;
const CLAIMS = 5;
/** What dead processes had fetched comes back after its ack wait (30 s); all durables are looked at every minute or so. */
const SWEPT_MS = 150_000;

test("[ARCH-6-4] [ARCH-6-5] killed at every point, one after the other: nothing is lost, nothing is there twice", async () => {
  await using ground = await openNatsGround();
  // More than one batch: the relay is killed with the rest before it.
  await using relay = await openMortalRelay(ground, CALLS, EVENTS);
  const deaths: (string | null)[] = [];
  for (const point of RELAY_POINTS) deaths.push(await relay.die(point));
  for (const point of CARRIER_FAULT_POINTS)
    deaths.push(await relay.die(point, point.startsWith("sweep:") ? CLAIMS : 0));
  expect(new Set(deaths)).toEqual(new Set(["SIGKILL"]));
  const claimed = CLAIMS * CARRIER_FAULT_POINTS.filter((point) => point.startsWith("sweep:")).length;
  const swept = { commands: CALLS - claimed, events: EVENTS };
  await relay.survive(() => expect.poll(relay.open, { timeout: SWEPT_MS, interval: 500 }).toEqual(swept));
});
