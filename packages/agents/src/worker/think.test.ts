import { getEventListeners } from "node:events";
import { systemClock } from "@toolplane/engine";
import { expect, test } from "vitest";
import type { Brain, BrainRequest } from "../brains/brain.ts";
import { think } from "./think.ts";

const request = {} as BrainRequest;
const ask = (brain: Brain, signal: AbortSignal, thinkMs = 60_000) =>
  think({ brain, request, signal, clock: systemClock, thinkMs });

/** Never answers; remembers its signal. */
const deaf = () => {
  const signals: AbortSignal[] = [];
  const brain: Brain = {
    think: ({ signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    },
  };
  return { brain, signals };
};

test("an answer leaves nothing behind: no listener, no timer", async () => {
  const { signal } = new AbortController();
  const answer = { text: "x", toolCalls: [] };
  expect(await ask({ think: async () => answer }, signal)).toBe(answer);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("[UTP-10.7-3] the work is gone: the brain's signal aborts and nobody waits for it", async () => {
  const work = new AbortController();
  const { brain, signals } = deaf();
  const asked = ask(brain, work.signal);
  work.abort();
  await expect(asked).rejects.toMatchObject({ code: "canceled" });
  expect(signals[0]?.aborted).toBe(true);
});

test("a brain that takes too long is given up", async () => {
  const { brain, signals } = deaf();
  await expect(ask(brain, new AbortController().signal, 5)).rejects.toMatchObject({ code: "upstream_unavailable" });
  expect(signals[0]?.aborted).toBe(true);
});

test("work that was gone before is not asked about for long", async () => {
  const { brain } = deaf();
  await expect(ask(brain, AbortSignal.abort())).rejects.toMatchObject({ code: "canceled" });
});

test("a brain that throws at once is a brain that failed", async () => {
  const broken: Brain = {
    think: () => {
      throw new RangeError("now");
    },
  };
  await expect(ask(broken, new AbortController().signal)).rejects.toBeInstanceOf(RangeError);
});
