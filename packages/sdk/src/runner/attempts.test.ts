import { ERROR_CODES, ERROR_TABLE, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { ToolError } from "../tools/tool-error.ts";
import { type AttemptsInput, planAttempt, runAttempts } from "./attempts.ts";

const failed = {
  code: "upstream_unavailable",
  retryable: undefined,
  retry: "safe",
  attempt: 1,
  maxAttempts: 3,
  now: 0,
  deadline: 30_000,
} as const;

describe("planAttempt", () => {
  test.each([
    ["a safe tool", {}, { again: true, waitMs: 125 }],
    ["a second failure waits longer", { attempt: 2 }, { again: true, waitMs: 250 }],
    ["a tool that is not safe", { retry: "never" }, { again: false, because: "unsafe" }],
    ["not safe, whatever the tool says", { retry: "never", retryable: true }, { again: false, because: "unsafe" }],
    ["the tool says no", { retryable: false }, { again: false, because: "advice" }],
    ["a code of its own", { code: "odd" }, { again: false, because: "advice" }],
    ["a code of its own that may be tried again", { code: "odd", retryable: true }, { again: true, waitMs: 125 }],
    ["the last try", { attempt: 3 }, { again: false, because: "attempts" }],
    ["no time left", { deadline: 125 }, { again: false, because: "deadline" }],
  ] as const)("[ARCH-7-9] %s", (_name, change, plan) => {
    expect(planAttempt({ ...failed, ...change }, () => 0)).toEqual(plan);
  });

  test("[ARCH-7-9] every code of the table: never means never", () => {
    for (const code of ERROR_CODES) {
      const { again } = planAttempt({ ...failed, code }, () => 0);
      expect.soft(again, code).toBe(ERROR_TABLE[code].retry !== "never");
    }
  });
});

const run = (change: Partial<AttemptsInput>) => {
  const clock = createManualClock();
  const controller = new AbortController();
  const leftBehind: boolean[] = [];
  const retries: number[] = [];
  const input: AttemptsInput = {
    execute: async () => "value",
    signal: controller.signal,
    retry: "safe",
    maxAttempts: 3,
    deadline: clock.now() + 30_000,
    clock,
    random: () => 0,
    scrub: (text) => text,
    onLeftBehind: (running) => leftBehind.push(running),
    onRetry: (attempt) => retries.push(attempt),
    ...change,
  };
  return { clock, controller, leftBehind, retries, end: runAttempts(input) };
};

describe("runAttempts", () => {
  test("[ARCH-7-9] tries again until it works, and says which try it is", async () => {
    const seen: number[] = [];
    const { clock, end, retries } = run({
      execute: async (attempt) => {
        seen.push(attempt);
        if (attempt < 3) throw new ToolError("upstream_unavailable", "closed");
        return "open";
      },
    });
    await clock.advance(1_000);
    expect(await end).toMatchObject({
      kind: "value",
      value: "open",
      tries: 3,
      failed: { error: { message: "closed" } },
    });
    expect(seen).toEqual([1, 2, 3]);
    expect(retries).toEqual([1, 2]);
  });

  test("[ARCH-7-9] the last error is the one that counts", async () => {
    const { clock, end } = run({
      execute: async (attempt) => {
        throw new ToolError("upstream_unavailable", `closed ${attempt}`);
      },
    });
    await clock.advance(1_000);
    expect(await end).toMatchObject({ kind: "error", failed: { error: { message: "closed 3" } }, tries: 3 });
  });

  test("a tool that throws at once, without a promise, is caught like any other", async () => {
    const { end } = run({
      retry: "never",
      execute: () => {
        throw new ToolplaneError("tool_error", "no");
      },
    });
    expect(await end).toMatchObject({
      kind: "error",
      failed: { error: { code: "tool_error", message: "no" } },
      tries: 1,
    });
  });

  test("[ARCH-7-S1] a tool that ignores its signal is left behind, and what it gives later is dropped", async () => {
    let finish: (value: string) => void = () => {};
    const { controller, end, leftBehind } = run({
      execute: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    controller.abort();
    expect(await end).toMatchObject({ kind: "ended" });
    expect(leftBehind).toEqual([true]);
    finish("too late");
    await new Promise((resolve) => setImmediate(resolve));
    expect(leftBehind).toEqual([true, false]);
  });

  test("[ARCH-7-S1] one that heeds its signal is not, and its rejection is not a result", async () => {
    const signals: AbortSignal[] = [];
    const controller = new AbortController();
    const { end, leftBehind } = run({
      signal: controller.signal,
      execute: () =>
        new Promise((_resolve, reject) => {
          signals.push(controller.signal);
          controller.signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    });
    controller.abort();
    expect(await end).toMatchObject({ kind: "ended" });
    expect(leftBehind).toEqual([]);
  });

  test("a signal ends the waiting between tries", async () => {
    const { clock, controller, end } = run({
      execute: async () => {
        throw new ToolError("upstream_unavailable", "closed");
      },
    });
    await clock.advance(0);
    controller.abort();
    expect(await end).toMatchObject({ kind: "ended" });
  });
});
