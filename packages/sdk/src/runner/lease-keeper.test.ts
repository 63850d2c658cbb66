import { type ErrorCode, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createRecordingLog } from "../../test/recording-log.ts";
import { createScriptedGateway, type Script } from "../../test/scripted-gateway.ts";
import type { Lease } from "../gateway/gateway.ts";
import { createLeaseKeeper, judgeBeatError, planBeat } from "./lease-keeper.ts";
import { createRunSignal } from "./run-signal.ts";

const held = { toolCallId: "call_1", leaseId: "lease_1" };
const LEASE_MS = 15_000;

const start = (script: Script = {}, first: Partial<Lease> = {}) => {
  const clock = createManualClock();
  const gateway = createScriptedGateway({ clock, script, leaseMs: LEASE_MS });
  const run = createRunSignal();
  const lease = { id: "lease_1", expiresAt: clock.now() + LEASE_MS, ...first };
  const log = createRecordingLog();
  const keeper = createLeaseKeeper({ gateway, clock, log, run, held, lease });
  return { clock, gateway, run, keeper, log, began: clock.now() };
};

const fails = (code: ErrorCode) => async () => {
  throw new ToolplaneError(code, code);
};

test.each([
  [15_000, false, 5_000],
  [15_000, true, 1_666],
  [90, false, 50],
  [-5_000, true, 50],
])("[ARCH-7-4] with %i ms left, failed %s: in %i ms", (leftMs, failed, waitMs) => {
  expect(planBeat(leftMs, failed)).toBe(waitMs);
});

test.each([
  ["lease_lost", "lost"],
  ["already_settled", "lost"],
  ["not_found", "lost"],
  ["unauthorized", "lost"],
  ["upstream_unavailable", "unreached"],
  ["storage_error", "unreached"],
  ["rate_limited", "unreached"],
  ["internal_error", "unreached"],
] as const)("[UTP-8.6-3] %s means %s", (code, verdict) => {
  expect(judgeBeatError(new ToolplaneError(code, ""))).toBe(verdict);
});

describe("keeping a lease", () => {
  test("[ARCH-7-4] [UTP-W40-S1] three heartbeats in the time of a lease, for as long as the call runs", async () => {
    const { clock, gateway, run, keeper } = start();
    await clock.advance(60_000);
    expect(gateway.beats).toHaveLength(12);
    expect(keeper.expiresAt()).toBe(clock.now() + LEASE_MS);
    expect(run.cause()).toBeUndefined();
    keeper.stop();
    await clock.advance(60_000);
    expect(gateway.beats).toHaveLength(12);
    expect(clock.sleeping()).toBe(0);
  });

  test("[NATS-line-1] a short lease is confirmed soon, and is a full one from then on; a call that ends before sends nothing", async () => {
    const { clock, gateway, keeper, began } = start(
      {},
      { expiresAt: createManualClock().now() + 5_000, isShort: true },
    );
    await clock.advance(500);
    expect(gateway.beats).toHaveLength(1);
    expect(keeper.expiresAt()).toBe(began + 500 + LEASE_MS);
    await clock.advance(4_000);
    expect(gateway.beats).toHaveLength(1);
    await clock.advance(1_000);
    expect(gateway.beats).toHaveLength(2);
    const brief = start({}, { isShort: true });
    await brief.clock.advance(400);
    brief.keeper.stop();
    await brief.clock.advance(60_000);
    expect(brief.gateway.beats).toEqual([]);
  });

  test("[ARCH-7-4] the news of a cancellation aborts the run", async () => {
    const { clock, run } = start({ heartbeat: async (_held, count) => ({ expiresAt: Infinity, cancel: count === 1 }) });
    await clock.advance(5_000);
    expect(run.cause()).toBe("canceled");
    expect(run.signal.reason).toMatchObject({ code: "canceled" });
    expect(run.unwanted.aborted).toBe(true);
  });

  test("[ARCH-7-1] a lease that is gone aborts the run", async () => {
    const { clock, run } = start({ heartbeat: fails("lease_lost") });
    await clock.advance(5_000);
    expect(run.cause()).toBe("lost");
    expect(run.signal.reason).toMatchObject({ code: "lease_lost" });
  });

  test("[UTP-8.6-3] a server that cannot be reached is not a lost lease while the lease lasts", async () => {
    const { clock, gateway, run, keeper, log, began } = start({
      heartbeat: async (_held, count) => {
        if (count < 4) throw new ToolplaneError("upstream_unavailable", "away");
        return { expiresAt: began + 60_000, cancel: false };
      },
    });
    await clock.advance(14_000);
    expect(gateway.beats.length).toBeGreaterThanOrEqual(4);
    expect(run.cause()).toBeUndefined();
    expect(keeper.expiresAt()).toBe(began + 60_000);
    expect(log.entries.map(({ message }) => message)).toEqual(["a heartbeat failed", "heartbeats arrive again"]);
  });

  test("[ARCH-7-1] [UTP-8.6-3] the end of the lease is, when nobody could be reached until then", async () => {
    const { clock, run } = start({ heartbeat: fails("upstream_unavailable") });
    await clock.advance(14_900);
    expect(run.cause()).toBeUndefined();
    await clock.advance(1_000);
    expect(run.cause()).toBe("expired");
    expect(run.signal.reason).toMatchObject({ code: "lease_lost" });
    // A result that is ready may still be accepted: only the plane can say that it is not wanted.
    expect(run.unwanted.aborted).toBe(false);
  });

  test("[ARCH-7-1] a gateway that never answers a heartbeat cannot keep a dead lease", async () => {
    const { clock, run } = start({ heartbeat: () => new Promise(() => {}) });
    await clock.advance(16_000);
    expect(run.cause()).toBe("expired");
  });

  test("a heartbeat on demand renews at once, and what it learns goes to the run", async () => {
    const { clock, gateway, run, keeper } = start();
    await clock.advance(1_000);
    await keeper.beat();
    expect(gateway.beats).toHaveLength(1);
    expect(keeper.expiresAt()).toBe(clock.now() + LEASE_MS);
    gateway.script.heartbeat = fails("lease_lost");
    await keeper.beat();
    expect(run.cause()).toBe("lost");
  });
});
