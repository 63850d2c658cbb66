import { silentLog, type Work } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { createHoldings } from "./holdings.ts";

const work = (claimId: string): Work => ({ claimId, agentId: claimId }) as Work;

/** A clock whose sleeps end when told to. */
const handClock = () => {
  const sleepers: (() => void)[] = [];
  let now = 0;
  return {
    clock: {
      now: () => now,
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          sleepers.push(resolve);
          signal?.addEventListener("abort", () => resolve(), { once: true });
        }),
    },
    tick: async (ms = 1_000) => {
      now += ms;
      for (const wake of sleepers.splice(0)) wake();
      for (let i = 0; i < 10; i++) await Promise.resolve();
    },
  };
};

const open = (heartbeat: (works: readonly Work[]) => Promise<readonly Work[]>) => {
  const { clock, tick } = handClock();
  return { tick, holdings: createHoldings({ turns: { heartbeat }, clock, log: silentLog, everyMs: 1_000 }) };
};

test("[UTP-10.1-6] all work in hand is kept alive by one statement; what is gone is aborted, the rest goes on", async () => {
  const beats: string[][] = [];
  const { holdings, tick } = open(async (works) => {
    beats.push(works.map(({ claimId }) => claimId));
    return works.filter(({ claimId }) => claimId === "b");
  });
  const [a, b, c] = ["a", "b", "c"].map((id) => holdings.take(work(id)));
  await tick();
  await tick();
  expect(beats).toEqual([["a", "b", "c"]]);
  expect([a, b, c].map((one) => one?.interruption())).toEqual([undefined, "claim_lost", undefined]);
  if (a !== undefined) holdings.leave(a);
  await tick();
  expect(beats[1]).toEqual(["b", "c"]);
  await holdings.close();
});

test("[UTP-10.7-3] a ring looks at the claim at once; rings meanwhile are one look more", async () => {
  const answers: ((gone: readonly Work[]) => void)[] = [];
  const asked: string[][] = [];
  const { holdings } = open((works) => {
    asked.push(works.map(({ claimId }) => claimId));
    return new Promise((resolve) => answers.push(resolve));
  });
  const a = holdings.take(work("a"));
  holdings.take(work("b"));
  holdings.check(work("a"));
  holdings.check(work("a"));
  await Promise.resolve();
  for (let i = 0; i < 5; i++) holdings.check(work("b"));
  holdings.check(work("unknown"));
  expect(asked).toEqual([["a"]]);
  answers[0]?.([work("a")]);
  while (asked.length < 2) await Promise.resolve();
  answers[1]?.([]);
  await holdings.close();
  expect(asked).toEqual([["a"], ["b"]]);
  expect(a.interruption()).toBe("claim_lost");
});

test("work that was only just taken is not beaten for", async () => {
  const beats: number[] = [];
  const { holdings, tick } = open(async (works) => {
    beats.push(works.length);
    return [];
  });
  await tick();
  holdings.take(work("a"));
  await tick();
  holdings.take(work("b"));
  await tick();
  await holdings.close();
  expect(beats).toEqual([1]);
});

test("[UTP-10.1-6] a clock that is set back lets no claim lapse", async () => {
  const beats: number[] = [];
  const { holdings, tick } = open(async (works) => {
    beats.push(works.length);
    return [];
  });
  holdings.take(work("a"));
  await tick(-3_600_000);
  await tick();
  await tick();
  await holdings.close();
  expect(beats).toEqual([1, 1]);
});

test("a beat that fails says nothing about the claim", async () => {
  const { holdings, tick } = open(() => Promise.reject(new ToolplaneError("storage_error", "away")));
  const a = holdings.take(work("a"));
  await tick();
  await tick();
  expect(a.interruption()).toBeUndefined();
  holdings.interruptAll("draining");
  expect(a.interruption()).toBe("draining");
  await holdings.close();
  expect(holdings.beats()).toBe(1);
});
