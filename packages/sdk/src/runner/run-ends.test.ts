// Ways a run ends before its tool does, and what becomes of the call.

import { type ErrorCode, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { until } from "../../test/manual-clock.ts";
import { createRunnerWorld, waitForAbort } from "../../test/runner-world.ts";

const LEFT_BEHIND = "the tool ignores its signal and was left behind";

const refuse = (code: ErrorCode) => async (): Promise<never> => {
  throw new ToolplaneError(code, code);
};

describe("the deadline", () => {
  test("[ARCH-7-5] [ARCH-7-1] the signal is aborted and the call settles as timeout with tool_timeout", async () => {
    const { run, reasons } = waitForAbort();
    const world = createRunnerWorld({ run, profile: { timeoutSeconds: 7 } });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(6_999);
    expect(world.gateway.settled).toEqual([]);
    await world.clock.advance(1);
    expect(await handled).toMatchObject({ outcome: "settled", status: "timeout", code: "tool_timeout" });
    expect(reasons).toMatchObject([{ code: "tool_timeout" }]);
    expect(world.gateway.settled[0]).toMatchObject({
      status: "timeout",
      error: { code: "tool_timeout", message: "count_words did not finish within 7 s", detail: { timeout_seconds: 7 } },
      result: { error_code: "tool_timeout" },
    });
    expect(world.log.entries.map(({ message }) => message)).not.toContain(LEFT_BEHIND);
  });

  test("[ARCH-7-5] a tool that says itself that its time is over ends its call the same way", async () => {
    const world = createRunnerWorld({ run: refuse("tool_timeout") });
    const handled = await world.runner.handle(world.call.command);
    expect(handled).toMatchObject({ outcome: "settled", status: "timeout", code: "tool_timeout" });
    expect(world.gateway.settled[0]).toMatchObject({ status: "timeout", error: { code: "tool_timeout" } });
  });

  test("[ARCH-7-S1] a tool that does not stop is left behind and its late result dropped", async () => {
    let finish: (value: string) => void = () => {};
    const world = createRunnerWorld({
      run: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(30_000);
    expect(await handled).toMatchObject({ status: "timeout" });
    // In the order in which a person understands it.
    expect(world.log.entries.map(({ message }) => message)).toEqual([
      "the tool did not finish in time and was told to stop",
      LEFT_BEHIND,
    ]);
    finish("too late");
    await until(() => world.log.entries.at(-1)?.message === "a tool that was left behind has ended", "the tool ends");
    expect(world.gateway.settled).toHaveLength(1);
  });

  test("[ARCH-7-5] the plane's own deadline counts when it says one", async () => {
    const { run } = waitForAbort();
    const world = createRunnerWorld({ run, calls: [{ runDeadline: 1_800_000_002_000 }] });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(2_000);
    expect(await handled).toMatchObject({ status: "timeout" });
  });

  test("[ARCH-7-9] the tool is not tried again after its deadline", async () => {
    const { run } = waitForAbort();
    const world = createRunnerWorld({ run, profile: { retry: "safe" } });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(60_000);
    await handled;
    expect(world.runs()).toBe(1);
  });
});

test("[ARCH-7-5] where the plane settled the timeout first, nothing is amiss", async () => {
  const { run } = waitForAbort();
  const world = createRunnerWorld({ run, script: { settle: refuse("already_settled") } });
  const handled = world.runner.handle(world.call.command);
  await world.clock.advance(30_000);
  expect(await handled).toMatchObject({ outcome: "late", status: "timeout" });
  // Only that the tool was too slow; nothing about a result that was refused.
  expect(world.log.entries.map(({ message }) => message)).toEqual([
    "the tool did not finish in time and was told to stop",
  ]);
});

test("[SEE-10] a value that is not JSON is named in the log and in the result", async () => {
  const world = createRunnerWorld({ run: async () => ({ total: 10n }) });
  await world.runner.handle(world.call.command);
  const reason = "the result cannot be written as JSON: a bigint at $.total";
  expect(world.gateway.settled[0]).toMatchObject({ error: { code: "result_not_serializable", message: reason } });
  expect(world.log.entries).toMatchObject([{ level: "warn", message: "the tool failed", fields: { reason } }]);
});

test("[SEE-10] a call that the plane has ended is a line of the service's log", async () => {
  const { run } = waitForAbort();
  const world = createRunnerWorld({ run });
  world.gateway.script.heartbeat = async () => ({ expiresAt: 0, cancel: true });
  const handled = world.runner.handle(world.call.command);
  await world.clock.advance(30_000);
  expect(await handled).toMatchObject({ outcome: "canceled" });
  expect(world.log.entries).toMatchObject([{ level: "info", message: expect.stringMatching(/^the plane has ended/) }]);
});

describe("cancellation and lost leases", () => {
  test("[ARCH-7-1] [ARCH-7-4] a cancellation aborts the tool within a third of the lease; there is nothing to report", async () => {
    const { run, reasons } = waitForAbort();
    const world = createRunnerWorld({ run });
    world.gateway.script.heartbeat = async () => ({ expiresAt: 0, cancel: true });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(5_000);
    expect(await handled).toMatchObject({ outcome: "canceled" });
    expect(reasons).toMatchObject([{ code: "canceled" }]);
    expect(world.gateway.settled).toEqual([]);
    // The plane hears that the run is over: it may hold a slot.
    expect(world.gateway.released).toHaveLength(1);
  });

  test("[LIM-slot-3] the plane hears that a canceled run is over when the tool has ended, also one that was left behind", async () => {
    let finish: (value: string) => void = () => {};
    const world = createRunnerWorld({
      run: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    world.gateway.script.heartbeat = async () => ({ expiresAt: 0, cancel: true });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(10_000);
    expect(await handled).toMatchObject({ outcome: "canceled" });
    expect(world.gateway.released).toEqual([]);
    finish("too late");
    await until(() => world.gateway.released.length === 1, "the plane hears of it");
    expect(world.gateway.settled).toEqual([]);
  });

  test.each([["lease_lost"], ["already_settled"], ["not_found"]] as const)(
    "[ARCH-7-1] %s on a heartbeat aborts the tool, and nothing is reported",
    async (code) => {
      const { run, reasons } = waitForAbort();
      const world = createRunnerWorld({ run, script: { heartbeat: refuse(code) } });
      const handled = world.runner.handle(world.call.command);
      await world.clock.advance(5_000);
      expect(await handled).toMatchObject({ outcome: "lost" });
      expect(reasons).toHaveLength(1);
      expect(world.gateway.settled).toEqual([]);
    },
  );

  test("[ARCH-7-1] a lease that runs out while nobody answers aborts the tool too", async () => {
    const { run } = waitForAbort();
    const world = createRunnerWorld({ run, script: { heartbeat: refuse("upstream_unavailable") } });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(16_000);
    expect(await handled).toMatchObject({ outcome: "lost" });
  });

  test("[UTP-W40-S1] a tool longer than its lease runs to its end, once", async () => {
    let finish: (value: string) => void = () => {};
    const world = createRunnerWorld({
      profile: { timeoutSeconds: 600 },
      run: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(300_000);
    finish("done");
    expect(await handled).toMatchObject({ outcome: "settled", status: "success" });
    expect(world.gateway.beats.length).toBe(60);
    expect(world.runs()).toBe(1);
  });

  test("a heartbeat that learns of the settlement under way does not undo it", async () => {
    const world = createRunnerWorld();
    let accept: () => void = () => {};
    world.gateway.script.settle = () =>
      new Promise((resolve) => {
        accept = () => resolve({ toolResultCardId: "card_r", idempotent: false });
      });
    world.gateway.script.heartbeat = async () => ({ expiresAt: 0, cancel: true });
    const handled = world.runner.handle(world.call.command);
    await until(() => world.gateway.settled.length === 1, "the result is sent");
    await world.clock.advance(6_000);
    expect(world.gateway.beats).toHaveLength(1);
    accept();
    expect(await handled).toMatchObject({ outcome: "settled" });
  });
});

describe("handing over", () => {
  test("[UTP-8.3-14] [UTP-W15-S1] a result that could not be sent is sent again; the tool does not run again for it", async () => {
    const world = createRunnerWorld();
    world.gateway.script.settle = async (_settlement, count) => {
      if (count < 6) throw new ToolplaneError("upstream_unavailable", "away");
      return { toolResultCardId: "card_r", idempotent: true };
    };
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(10_000);
    expect(await handled).toMatchObject({ outcome: "settled" });
    expect(world.runs()).toBe(1);
    expect(new Set(world.gateway.settled.map((settlement) => JSON.stringify(settlement))).size).toBe(1);
  });

  test("[UTP-W15-S1] it is sent until the lease is surely over, heartbeats going on meanwhile", async () => {
    const world = createRunnerWorld({ script: { settle: refuse("storage_error") } });
    world.gateway.script.heartbeat = refuse("upstream_unavailable");
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(16_000);
    expect(world.gateway.beats.length).toBeGreaterThan(2);
    const tries = world.gateway.settled.length;
    expect(tries).toBeGreaterThan(3);
    await world.clock.advance(620_000);
    expect(await handled).toMatchObject({ outcome: "undelivered" });
    expect(world.gateway.settled.length).toBeGreaterThan(tries);
  });

  test.each([
    ["is not started when the plane has taken it away", "lost", 0],
    ["is started when the plane renews it", "settled", 1],
  ] as const)("[INV-I6-fence] a call that comes after its lease has ended %s", async (_how, outcome, runs) => {
    const world = createRunnerWorld(outcome === "lost" ? { script: { heartbeat: refuse("lease_lost") } } : {});
    const lease = { id: "lease_1", expiresAt: world.clock.now() };
    const report = await world.runner.handle({ ...world.call.command, lease });
    expect([report.outcome, world.runs(), world.gateway.settled.length]).toEqual([outcome, runs, runs]);
  });

  test("[UTP-W15-S1] a lease the plane has taken away ends the sending", async () => {
    const world = createRunnerWorld({ script: { settle: refuse("storage_error"), heartbeat: refuse("lease_lost") } });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(20_000);
    expect(await handled).toMatchObject({ outcome: "lost" });
    expect(world.clock.sleeping()).toBe(0);
  });

  test.each([
    ["already_settled", "late"],
    ["lease_lost", "lost"],
    ["unauthorized", "undelivered"],
  ] as const)("[UTP-W15-S2] %s is an answer, not a failure: %s, sent once", async (code, outcome) => {
    const world = createRunnerWorld({ script: { settle: refuse(code) } });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome });
    expect(world.gateway.settled).toHaveLength(1);
  });

  test("[SEC-15-S1] a result the server finds too large is replaced by its size and its beginning", async () => {
    const world = createRunnerWorld({ run: () => "x".repeat(4_000) });
    world.gateway.script.settle = async (_settlement, count) => {
      if (count === 1) throw new ToolplaneError("payload_too_large", "too large");
      return { toolResultCardId: "card_r", idempotent: false };
    };
    expect(await world.runner.handle(world.call.command)).toMatchObject({
      outcome: "settled",
      code: "result_too_large",
    });
    expect(world.gateway.settled[1]?.error).toMatchObject({
      detail: { bytes: 4_002, preview: `"${"x".repeat(1_999)}` },
    });
  });

  test("[UTP-W15-S2] a result that is refused for what it contains is replaced once, by the reason", async () => {
    const world = createRunnerWorld({ script: { settle: refuse("result_not_serializable") } });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "undelivered" });
    expect(world.gateway.settled.map(({ status }) => status)).toEqual(["success", "failed"]);
  });
});

describe("a service that must stop", () => {
  test("[ARCH-7-2] an unsafe tool is told to stop and its call settles as outcome_unknown", async () => {
    const { run, reasons } = waitForAbort();
    const world = createRunnerWorld({ run });
    const stop = new AbortController();
    const handled = world.runner.handle(world.call.command, stop.signal);
    await until(() => world.runs() === 1, "the tool starts");
    stop.abort();
    expect(await handled).toMatchObject({ outcome: "settled", status: "failed", code: "outcome_unknown" });
    expect(reasons).toMatchObject([{ message: "the service is stopping" }]);
  });

  test("[ARCH-7-3] a safe tool's call is given back", async () => {
    const { run } = waitForAbort();
    const world = createRunnerWorld({ run, profile: { retry: "safe" } });
    const stop = new AbortController();
    const handled = world.runner.handle(world.call.command, stop.signal);
    await until(() => world.runs() === 1, "the tool starts");
    stop.abort();
    expect(await handled).toMatchObject({ outcome: "released" });
    expect(world.gateway.released).toEqual([{ toolCallId: "call_1", leaseId: "lease_1" }]);
    expect(world.gateway.settled).toEqual([]);
  });

  test("[ARCH-7-3] a call that was not started is given back, safe or not", async () => {
    const world = createRunnerWorld({ script: { readCard: () => new Promise(() => {}) } });
    const stop = new AbortController();
    const handled = world.runner.handle(world.call.command, stop.signal);
    await until(() => world.gateway.reads.length === 1, "the card is asked for");
    stop.abort();
    expect(await handled).toMatchObject({ outcome: "released" });
    expect(world.runs()).toBe(0);
  });

  test("a call that cannot be given back is left to its lease", async () => {
    const { run } = waitForAbort();
    const world = createRunnerWorld({ run, profile: { retry: "safe" }, script: { release: refuse("lease_lost") } });
    const stop = new AbortController();
    const handled = world.runner.handle(world.call.command, stop.signal);
    await until(() => world.runs() === 1, "the tool starts");
    stop.abort();
    expect(await handled).toMatchObject({ outcome: "lost" });
  });
});
