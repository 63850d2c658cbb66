// The doorbell over LISTEN / NOTIFY, between processes and inside one.

import type { RingOrigin } from "@toolplane/engine/internal";
import { createCollector, eventually, withTestClient } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPostgresHarness, type PostgresHarness, type PostgresProcess } from "./postgres-harness.ts";

let harness: PostgresHarness;
beforeAll(async () => {
  harness = await openPostgresHarness();
});
afterAll(async () => {
  await harness.close();
});

const connected = async (...processes: readonly PostgresProcess[]): Promise<void> => {
  await eventually(() => processes.every(({ doorbell }) => doorbell.stats().connected));
};

test("[ARCH-6-28] a ring is told here at once, and elsewhere by the server; its own NOTIFY is not told again", async () => {
  const [one, other] = [harness.start(), harness.start()];
  await connected(one, other);
  const here = createCollector<RingOrigin>();
  const there = createCollector<RingOrigin>();
  const answered = createCollector<RingOrigin>();
  one.doorbell.listen("settled", (from) => here.push(from));
  one.doorbell.listen("queued", (from) => answered.push(from));
  other.doorbell.listen("settled", (from) => there.push(from));
  one.doorbell.ring("settled");
  expect(here.items).toEqual(["here"]);
  expect(await there.until(1)).toEqual(["elsewhere"]);
  // The server tells in the order of commits: the answer comes after whatever the first ring could cause here.
  other.doorbell.ring("queued");
  expect(await answered.until(1)).toEqual(["elsewhere"]);
  expect(here.items).toEqual(["here"]);
});

test("[ARCH-6-28] kinds are apart, and who stopped listening hears nothing", async () => {
  const one = harness.start();
  const [queued, settled] = [createCollector<RingOrigin>(), createCollector<RingOrigin>()];
  const stop = one.doorbell.listen("queued", (from) => queued.push(from));
  one.doorbell.listen("settled", (from) => settled.push(from));
  await connected(one);
  const before = settled.items.length;
  one.doorbell.ring("queued");
  stop();
  one.doorbell.ring("queued");
  expect(queued.items.filter((from) => from === "here")).toEqual(["here"]);
  expect(settled.items).toHaveLength(before);
});

test("[ARCH-6-29] a thousand rings at once are at most two on the wire, each an empty NOTIFY", async () => {
  const one = harness.start();
  await connected(one);
  await withTestClient(harness.database.url, async (client) => {
    const heard = createCollector<string | undefined>();
    client.on("notification", ({ channel, payload }) => {
      if (channel === "toolplane_registry") heard.push(payload);
    });
    await client.query("listen toolplane_registry");
    const { sent } = one.doorbell.stats();
    for (let n = 0; n < 1000; n++) one.doorbell.ring("registry");
    await eventually(() => one.doorbell.stats().sent === sent + 2);
    await heard.until(2);
    expect(heard.items).toEqual(["", ""]);
    expect(one.doorbell.stats().sent).toBe(sent + 2);
  });
});

test("[ARCH-6-30] without a server ringing does not throw, and after a reconnect everybody is told and rings leave", async () => {
  const own = await openPostgresHarness();
  const [one, other] = [own.start(), own.start()];
  await connected(one, other);
  const unlock = await own.lockOut();
  await eventually(() => !one.doorbell.stats().connected && !other.doorbell.stats().connected);
  const heard = createCollector<RingOrigin>();
  const there = createCollector<RingOrigin>();
  one.doorbell.listen("queued", (from) => heard.push(from));
  other.doorbell.listen("registry", (from) => there.push(from));
  expect(() => one.doorbell.ring("queued")).not.toThrow();
  expect(heard.items).toEqual(["here"]);
  await unlock();
  // Told because something may have been missed.
  expect((await heard.until(2)).slice(0, 2)).toEqual(["here", "elsewhere"]);
  await connected(one, other);
  await there.until(1);
  const before = there.items.length;
  one.doorbell.ring("registry");
  await there.until(before + 1);
  await own.close();
});

test("[ARCH-6-30] a ring that was waiting for the connection leaves when there is one", async () => {
  const other = harness.start();
  await connected(other);
  const there = createCollector<RingOrigin>();
  other.doorbell.listen("settled", (from) => there.push(from));
  const one = harness.start();
  one.doorbell.ring("settled");
  expect(await there.until(1)).toEqual(["elsewhere"]);
});

test("a listener that throws does not keep the others from hearing", async () => {
  const one = harness.start();
  await connected(one);
  const heard = createCollector<RingOrigin>();
  one.doorbell.listen("queued", () => {
    throw new RangeError("a bad listener");
  });
  one.doorbell.listen("queued", (from) => heard.push(from));
  one.doorbell.ring("queued");
  expect(heard.items).toEqual(["here"]);
});

test("the last ring leaves before the doorbell closes, and a closed one is silent", async () => {
  const [one, other] = [harness.start(), harness.start()];
  await connected(one, other);
  const [here, there] = [createCollector<RingOrigin>(), createCollector<RingOrigin>()];
  one.doorbell.listen("queued", (from) => here.push(from));
  other.doorbell.listen("queued", (from) => there.push(from));
  one.doorbell.ring("queued");
  one.doorbell.ring("queued");
  await one.doorbell.close();
  await one.doorbell.close();
  await there.until(1);
  one.doorbell.ring("queued");
  expect(here.items).toEqual(["here", "here"]);
  expect(one.doorbell.stats().connected).toBe(false);
});
