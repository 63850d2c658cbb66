// A process dies by SIGKILL between publishing a batch and saying so. The next one publishes the batch again under the
// same ids, and the server holds every message once. The other points are in the long run.

import { expect, test } from "vitest";
import { openMortalRelay } from "./mortal-relay.ts";
import { openNatsGround } from "./nats-world.ts";

test("[ARCH-6-4] a relay killed in the middle of its batch: every message is on the server, and once", async () => {
  // Longer than the test: the durable is made beside the relay, and what comes before the durable is cut off after this.
  await using ground = await openNatsGround({ keepCommandsMs: 600_000 });
  await using relay = await openMortalRelay(ground, 60, 40);
  expect(await relay.die("relay:after-publish")).toBe("SIGKILL");
  // Published, and not marked.
  expect(await relay.held()).toEqual({ commands: 60, events: 40 });
  await relay.survive();
  expect(await relay.held()).toEqual({ commands: 60, events: 40 });
});
