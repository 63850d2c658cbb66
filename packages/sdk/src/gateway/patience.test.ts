import { ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { planRetry, withPatience } from "./patience.ts";

const away = (detail?: Record<string, unknown>): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", "away", { detail });

describe("planRetry", () => {
  test.each([
    ["away", away(), 10_000, true],
    ["the store is busy", new ToolplaneError("storage_error", "busy"), 10_000, true],
    ["too many requests", new ToolplaneError("rate_limited", "slow down"), 10_000, true],
    ["a fault of the server", new ToolplaneError("internal_error", "oops"), 10_000, true],
    ["refused", new ToolplaneError("bad_request", "no"), 10_000, false],
    ["the lease is lost", new ToolplaneError("lease_lost", "gone"), 10_000, false],
    ["settled already", new ToolplaneError("already_settled", "done"), 10_000, false],
    ["no token", new ToolplaneError("unauthorized", "who"), 10_000, false],
    ["no time left", away(), 50, false],
    ["not asked to", away(), undefined, false],
  ] as const)("[API-6-S2] %s", (_name, error, until, retry) => {
    expect(planRetry({ error, failures: 1, now: 0, until }, () => 0).retry).toBe(retry);
  });

  test.each([
    ["longer than the backoff", 3, 3_000],
    ["shorter than the backoff", 0.01, 100],
    ["longer than a lease could last", 100_000, 60_000],
    ["nonsense", "soon", 100],
  ])("[API-6-S3] the server asks to be left alone: %s", (_name, seconds, waitMs) => {
    const error = away({ retry_after_seconds: seconds });
    expect(planRetry({ error, failures: 1, now: 0, until: 1e9 }, () => 0)).toEqual({ retry: true, waitMs });
  });
});

describe("withPatience", () => {
  test("[API-6-S2] tries again until it succeeds", async () => {
    const clock = createManualClock();
    let tries = 0;
    const work = withPatience({ clock, random: () => 0 }, { until: () => clock.now() + 60_000 }, async () => {
      tries += 1;
      if (tries < 4) throw away();
      return "done";
    });
    await clock.advance(5_000);
    await expect(work).resolves.toBe("done");
    expect(tries).toBe(4);
  });

  test("[API-6-S2] gives up when the time is over, with the last error", async () => {
    const clock = createManualClock();
    const end = clock.now() + 1_000;
    let tries = 0;
    const work = withPatience({ clock, random: () => 0 }, { until: () => end }, async () => {
      tries += 1;
      throw away();
    });
    const caught = work.catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(await caught).toMatchObject({ code: "upstream_unavailable" });
    expect(tries).toBe(4);
  });

  test("[API-6-S2] a time that moves on is asked for every time", async () => {
    const clock = createManualClock();
    let end = clock.now() + 150;
    let tries = 0;
    const work = withPatience({ clock, random: () => 0 }, { until: () => end }, async () => {
      tries += 1;
      end += 1_000;
      if (tries < 3) throw away();
      return tries;
    });
    await clock.advance(1_000);
    expect(await work).toBe(3);
  });

  test("a signal ends the waiting, and its reason is the error", async () => {
    const clock = createManualClock();
    const given = new AbortController();
    const work = withPatience({ clock, random: () => 0 }, { signal: given.signal, until: () => Infinity }, async () => {
      throw away();
    });
    const caught = work.catch((error: unknown) => error);
    await clock.advance(10);
    const reason = new ToolplaneError("lease_lost", "gone");
    given.abort(reason);
    expect(await caught).toBe(reason);
    expect(clock.sleeping()).toBe(0);
  });
});
