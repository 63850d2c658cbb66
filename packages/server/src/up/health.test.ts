import type { Clock } from "@toolplane/engine";
import { expect, test } from "vitest";
import { createHealth, type Phase } from "./health.ts";

const createTestClock = () => {
  let now = 0;
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    sleep: (ms) => new Promise((wake) => void sleepers.push({ at: now + ms, wake })),
  };
  return {
    clock,
    move: (ms: number) => {
      now += ms;
      for (const { at, wake } of sleepers) if (at <= now) wake();
    },
  };
};

const given = (phase: Phase, askStore: () => Promise<unknown>) => {
  const { clock, move } = createTestClock();
  const health = createHealth({
    version: "1.2.3",
    store: "embedded",
    roles: ["api"],
    phase: () => phase,
    askStore,
    clock,
  });
  return { health, move };
};

test.each<[Phase, boolean, boolean, string]>([
  ["ready", true, true, "ok"],
  ["ready", false, false, "store_away"],
  ["starting", true, false, "starting"],
  ["draining", true, false, "draining"],
])("[API-4-7] %s with a store that answers: %s", async (phase, answers, ok, status) => {
  const { health } = given(phase, () => (answers ? Promise.resolve(1) : Promise.reject(new TypeError("gone"))));
  expect(await health()).toEqual({
    ok,
    body: { status, version: "1.2.3", protocol: "v1r4", store: "embedded", bus: "postgres", roles: ["api"] },
  });
});

test.each([true, false])("[UP-9-3] NATS that is there (%s) is said and changes nothing", async (connected) => {
  const health = createHealth({
    version: "1.2.3",
    store: "postgres",
    bus: { connected: () => connected },
    roles: ["api"],
    phase: () => "ready",
    askStore: async () => 1,
  });
  expect(await health()).toMatchObject({ ok: true, body: { status: "ok", bus: "nats", bus_connected: connected } });
});

test("[UP-5-6] a store that answers and stores nothing is said to", async () => {
  let refuses = true;
  const health = createHealth({
    version: "1.2.3",
    store: "postgres",
    roles: ["api"],
    phase: () => "ready",
    askStore: async () => 1,
    storeRefuses: () => refuses,
  });
  expect(await health()).toMatchObject({ ok: false, body: { status: "store_refuses" } });
  refuses = false;
  expect(await health()).toMatchObject({ ok: true, body: { status: "ok" } });
});

test("a store that is silent counts as away", async () => {
  const { health, move } = given("ready", () => new Promise(() => {}));
  const answer = health();
  move(2_000);
  expect((await answer).ok).toBe(false);
});

test("many who ask at once cost the store one question", async () => {
  let asked = 0;
  const { health, move } = given("ready", async () => {
    asked += 1;
  });
  await Promise.all([health(), health(), health()]);
  await health();
  expect(asked).toBe(1);
  move(300);
  await health();
  expect(asked).toBe(2);
});
