// The doorbell over LISTEN / NOTIFY, between processes and inside one.

import type { RingOrigin } from "@toolplane/engine/internal";
import { createCollector, eventually, withTestClient } from "@toolplane/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createManualClock } from "./manual-clock.ts";
import { openPostgresHarness, type PostgresHarness, type PostgresProcess, startCompany } from "./postgres-harness.ts";

let harness: PostgresHarness;
beforeEach(async () => {
  harness = await openPostgresHarness();
});
afterEach(async () => {
  await harness.close();
});

const connected = async (...processes: readonly PostgresProcess[]): Promise<void> => {
  await eventually(() => processes.every(({ doorbell }) => doorbell.stats().connected));
};

const KINDS = ["queued", "sessions", "settled", "messages", "inbox", "stopped", "registry", "streams"];

interface Ear {
  /** What was sent on the database: the word and its payload, in order. */
  readonly heard: { readonly word: string; readonly payload: string | undefined }[];
  hello(): Promise<unknown>;
}

/** A client that writes down everything that is rung on the database; it greets when the test says so. */
const withEar = (body: (ear: Ear) => Promise<void>): Promise<void> =>
  withTestClient(harness.database.url, async (client) => {
    const heard: Ear["heard"] = [];
    client.on("notification", ({ channel, payload }) =>
      heard.push({ word: channel.replace("toolplane_", ""), payload }),
    );
    await client.query([...KINDS, "hello", "present"].map((word) => `listen toolplane_${word}`).join("; "));
    await body({ heard, hello: () => client.query("notify toolplane_hello") });
  });

test("[ARCH-6-28] a ring is told here at once, and elsewhere by the server; its own NOTIFY is not told again", async () => {
  const [one, other] = await startCompany(harness);
  const here = createCollector<RingOrigin>();
  const there = createCollector<RingOrigin>();
  const answered = createCollector<RingOrigin>();
  one.doorbell.listen("settled", (from) => here.push(from));
  one.doorbell.listen("queued", (from) => answered.push(from));
  other.doorbell.listen("settled", (from) => there.push(from));
  one.doorbell.ring("settled");
  expect(here.items).toEqual(["here"]);
  expect(await there.until(1)).toEqual(["elsewhere"]);
  // The server tells in the order of commits: the answer comes after everything that the first ring could cause here.
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
  const [one] = await startCompany(harness);
  await withEar(async ({ heard }) => {
    // No answer of the server can come between these rings: the first leaves alone, all others together.
    for (let n = 0; n < 1000; n++) {
      one.doorbell.ring("registry");
      await Promise.resolve();
    }
    await eventually(() => one.doorbell.stats().sent === 2 + 2);
    // A third one would come before this one.
    one.doorbell.ring("settled");
    await eventually(() => heard.some(({ word }) => word === "settled"));
    expect(heard).toEqual(["registry", "registry", "settled"].map((word) => ({ word, payload: "" })));
  });
});

test("a process that is alone sends nothing; a greeting is answered, and then rung for every kind", async () => {
  await withEar(async ({ heard, hello }) => {
    const clock = createManualClock();
    const { doorbell } = harness.start({ clock });
    await eventually(() => doorbell.stats().sent === 1);
    clock.advance(60_000);
    await eventually(() => doorbell.stats().alone);
    const here = createCollector<RingOrigin>();
    doorbell.listen("inbox", (from) => here.push(from));
    doorbell.ring("inbox");
    expect(here.items).toEqual(["here"]);
    await hello();
    const missed = ["present", ...KINDS];
    await eventually(() => heard.length >= 2 + missed.length);
    // A connection is heard in its order: a ring that was sent before the greeting would be one more.
    expect(heard.slice(0, 2).map(({ word }) => word)).toEqual(["hello", "hello"]);
    doorbell.ring("inbox");
    await eventually(() => heard.length > 2 + missed.length);
    expect(heard.slice(2).map(({ word }) => word)).toEqual([...missed, "inbox"]);
    expect([doorbell.stats().alone, here.items]).toEqual([false, ["here", "elsewhere", "here"]]);
  });
});

test("[ARCH-6-30] without a server ringing does not throw, and after a reconnect everybody is told and rings leave", async () => {
  const [one, other] = [harness.start(), harness.start()];
  await connected(one, other);
  const unlock = await harness.lockOut();
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
});

test("[ARCH-6-30] a ring that was waiting for the connection leaves when there is one", async () => {
  const other = harness.start({ clock: createManualClock() });
  await eventually(() => other.doorbell.stats().sent === 1);
  const one = harness.start({ clock: createManualClock() });
  one.doorbell.ring("settled");
  expect(one.doorbell.stats().connected).toBe(false);
  await eventually(() => other.doorbell.stats().heard === 1);
  expect(one.doorbell.stats()).toMatchObject({ connected: true, rings: 1 });
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
  const [one, other] = await startCompany(harness);
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
