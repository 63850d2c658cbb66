// One process after the other dies by SIGKILL at each point of what an engine does beside its carrier. In the end every
// message was on the server once, and the commands of claimed calls are gone from it.

import { CARRIER_FAULT_POINTS, type FaultPoint } from "@toolplane/engine";
import { expect, test } from "vitest";
import { openMortalRelay } from "../carrier/mortal-relay.ts";
import { openNatsGround } from "../carrier/nats-world.ts";

const RELAY_POINTS: readonly FaultPoint[] = ["relay:after-claim", "relay:after-publish", "relay:after-mark"];
const CLAIMS = 5;

test("[ARCH-6-4] [ARCH-6-5] killed at every point, one after the other: nothing is lost, nothing is there twice", async () => {
  await using ground = await openNatsGround();
  // More than one batch: the relay is killed with the rest before it.
  await using relay = await openMortalRelay(ground, 700, 100);
  const deaths: (string | null)[] = [];
  for (const point of RELAY_POINTS) deaths.push(await relay.die(point));
  for (const point of CARRIER_FAULT_POINTS)
    deaths.push(await relay.die(point, point.startsWith("sweep:") ? CLAIMS : 0));
  expect(new Set(deaths)).toEqual(new Set(["SIGKILL"]));
  await relay.survive();
  const claimed = CLAIMS * CARRIER_FAULT_POINTS.filter((point) => point.startsWith("sweep:")).length;
  await expect.poll(relay.held, { timeout: 60_000 }).toEqual({ commands: 700 - claimed, events: 100 });
});
