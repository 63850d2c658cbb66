import { expect, test } from "vitest";
import { createFakeTerminal } from "../../test/cli/fake-terminal.ts";
import { limitText, readLimits } from "./limits.ts";
import { WrongUsage } from "./wrong-usage.ts";

test.each([
  [{}, {}],
  [{ concurrency: "20" }, { concurrency: 20 }],
  [
    { rate: "50/1s", queue: "none" },
    { rate: { limit: 50, per_seconds: 1 }, queue: null },
  ],
  [{ rate: "50/s" }, { rate: { limit: 50, per_seconds: 1 } }],
  [{ rate: "50/10", burst: "5" }, { rate: { limit: 50, per_seconds: 10, burst: 5 } }],
  [{ rate: "6/s", burst: "none" }, { rate: { limit: 6, per_seconds: 1 } }],
  [{ breaker: "0.5/60s/30s" }, { breaker: { failure_rate: 0.5, window_seconds: 60, open_seconds: 30 } }],
  [{ breaker: "none" }, { breaker: null }],
  [{ rate: "100/1h" }, { rate: { limit: 100, per_seconds: 3_600 } }],
  [
    { concurrency: "none", rate: "none" },
    { concurrency: null, rate: null },
  ],
])("[LIM-door-1] limits as they are typed: %o", (flags, limits) => {
  expect(readLimits(flags, "breaker", "tools limits")).toEqual(limits);
});

test.each([
  [null, "none"],
  [20, "20"],
  [{ limit: 50, per_seconds: 1 }, "50/1s"],
  [{ limit: 1, per_seconds: 0.5, burst: 5 }, "1/0.5s, burst 5"],
  [{ failure_rate: 0.5, window_seconds: 60, open_seconds: 30 }, "0.5/60s/30s"],
  [{ attempts: 3 }, '{"attempts":3}'],
])("[LIM-door-1] limits are shown as they are typed: %o", (limit, text) => {
  expect(limitText(limit)).toBe(text);
});

test("[LIM-door-1] what is wrong with a rate, and where its help is", () => {
  const wrong = (flags: object): unknown => {
    try {
      return readLimits(flags, "breaker", "tools limits");
    } catch (error) {
      return error;
    }
  };
  expect(wrong({ rate: "0/s" })).toMatchObject({
    message: "--rate is written as 50/s or 50/10s: so many calls, from 1 on, in so long; or none",
    command: "tools limits",
  });
  expect(wrong({ breaker: "0.5/60x/30s" })).toMatchObject({
    message: expect.stringMatching(/^--breaker is written as 0.5\/60s\/30s/),
    command: "tools limits",
  });
});

test.each([
  { concurrency: "0" },
  { concurrency: "x" },
  { rate: "50" },
  { rate: "50/1s/2" },
  { rate: "x/1s" },
  { rate: "50/x" },
  { burst: "5" },
  { burst: "none" },
  { rate: "6/s", burst: "0" },
  { rate: "none", burst: "5" },
  { breaker: "0.5/60s" },
  { breaker: "2/60s/30s" },
  { queue: "1.5" },
])("[LIM-door-1] %o is refused", (flags) => {
  expect(() => readLimits(flags, "breaker", "tools limits")).toThrow(WrongUsage);
});

test.each([
  [
    ["tools", "limits", "search"],
    "$.concurrency: expected at most 10000, got 99999",
    "--concurrency: expected at most 10000, got 99999",
  ],
  [["tools", "limits", "search"], "$.rate.burst: expected at least 1, got 0", "--burst: expected at least 1, got 0"],
  [
    ["projects", "limits", "demo"],
    "$.limits.rate.limit: expected at most 9, got 10",
    "--rate (limit): expected at most 9, got 10",
  ],
  [
    ["projects", "limits", "demo"],
    "$.limits.rate: a rate is at most 9 calls in a second",
    "--rate: a rate is at most 9 calls in a second",
  ],
  [
    ["projects", "limits", "demo"],
    "$.limits.target_breaker.open_seconds: expected at most 9, got 10; $.limits.queue: expected at most 9, got 10",
    "--breaker (open_seconds): expected at most 9, got 10; --queue: expected at most 9, got 10",
  ],
])("[LIM-door-1] %j: a value that the server refuses is named by its flag: %s", async (command, said, shown) => {
  const body = { error: { code: "bad_request", message: `the body is not valid: ${said}` } };
  const terminal = createFakeTerminal({ answer: () => ({ status: 400, body }) });
  expect(await terminal.run(...command, "--concurrency", "99999")).toBe(1);
  expect(terminal.err()).toBe(`toolplane: bad_request: ${shown}; correct the request\n`);
});
