import { type ErrorCode, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createManualClock, settle, until } from "../../test/manual-clock.ts";
import { createRecordingLog } from "../../test/recording-log.ts";
import { sampleCall } from "../../test/sample-call.ts";
import { createScriptedGateway, type Script } from "../../test/scripted-gateway.ts";
import type { ClaimedCommand } from "../gateway/gateway.ts";
import type { RunOutcome, RunReport } from "../runner/run-report.ts";
import { planClaimPause, startToolService, type ToolServiceOptions } from "./tool-service.ts";

interface Handled {
  readonly command: ClaimedCommand;
  readonly stop: AbortSignal | undefined;
  readonly finish: (outcome?: RunOutcome) => void;
}

/** Commands are queued; a claim takes what it may, or waits. Runs end when the test says so. */
const createWorld = (options: Partial<ToolServiceOptions> & { readonly claim?: Script["claim"] } = {}) => {
  const { claim, ...rest } = options;
  const clock = createManualClock();
  const log = createRecordingLog();
  const queue: ClaimedCommand[] = [];
  const handled: Handled[] = [];
  let ring: () => void = () => {};
  const gateway = createScriptedGateway({ clock });
  const takeQueued: Script["claim"] = async ({ max }, signal) => {
    while (queue.length === 0 && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        ring = resolve;
        signal?.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    return queue.splice(0, max);
  };
  gateway.script.claim = claim ?? takeQueued;
  const runner = {
    handle: (command: ClaimedCommand, stop?: AbortSignal) =>
      new Promise<RunReport>((resolve) => {
        handled.push({ command, stop, finish: (outcome = "settled") => resolve({ outcome }) });
      }),
  };
  const service = startToolService({
    gateway,
    runner,
    target: "text",
    concurrency: 2,
    clock,
    random: () => 0,
    log,
    ...rest,
  });
  const add = (...ids: readonly string[]): void => {
    queue.push(...ids.map((callId) => sampleCall({ callId, leaseId: `lease_${callId}` }).command));
    ring();
  };
  return { clock, log, gateway, handled, service, add, takeQueued };
};

const fails = (code: ErrorCode) => async (): Promise<never> => {
  throw new ToolplaneError(code, code);
};

describe("claiming", () => {
  test("[ARCH-7-3] it asks for as many as it can start at once, and not at all when it is full", async () => {
    const { gateway, handled, add, service } = createWorld();
    await settle();
    const asked = gateway.claims[0]?.service;
    expect(gateway.claims).toEqual([{ target: "text", max: 2, waitMs: 20_000, service: asked }]);
    expect(asked?.room()).toBe(2);
    add("a", "b", "c");
    await until(() => handled.length === 2, "two calls run");
    await settle();
    expect(gateway.claims).toHaveLength(1);
    expect([service.running(), asked?.room()]).toEqual([2, 0]);
    handled[0]?.finish();
    await until(() => handled.length === 3, "the third runs");
    expect(gateway.claims[1]?.max).toBe(1);
  });

  test("[ARCH-7-3] what a server gives beyond that goes back", async () => {
    const claimed = ["a", "b", "c"].map((callId) => sampleCall({ callId, leaseId: `lease_${callId}` }).command);
    const { gateway, handled } = createWorld({ claim: async () => claimed });
    await until(() => gateway.released.length === 1, "the third goes back");
    expect(handled.map(({ command }) => command.lease?.id)).toEqual(["lease_a", "lease_b"]);
    expect(gateway.released).toEqual([{ toolCallId: "c", leaseId: "lease_c" }]);
  });

  test("[UTP-8.6-3] [API-6-S16] it outlives its server: asks for ever, says so once, and says when it is back", async () => {
    let back = 0;
    const world = createWorld({ claim: fails("upstream_unavailable"), onReconnected: () => (back += 1) });
    await world.clock.advance(120_000);
    expect(world.gateway.claims.length).toBeGreaterThan(8);
    expect(world.gateway.claims.length).toBeLessThan(60);
    expect(world.log.entries.map(({ message }) => message)).toEqual([
      "this service could not ask for calls; it tries again",
    ]);
    world.gateway.script.claim = world.takeQueued;
    world.add("a");
    await world.clock.advance(15_000);
    expect(world.handled).toHaveLength(1);
    expect(back).toBe(1);
    expect(world.log.entries.at(-1)?.message).toBe("this service asks for calls again");
  });

  test("[API-5-N8] a claim that waited in vain is an occasion to look around; one that was answered at once is none", async () => {
    let idle = 0;
    const world = createWorld({ claim: async () => [], onIdle: () => (idle += 1) });
    await world.clock.advance(10_000);
    expect(idle).toBe(0);
    world.gateway.script.claim = async (_request, signal) => {
      await world.clock.sleep(20_000, signal);
      return [];
    };
    await world.clock.advance(70_000);
    expect(idle).toBe(3);
    await world.service.stop();
    expect(idle).toBe(3);
  });

  test("[API-6-S16] a server that does not keep the question open is not asked in a tight loop", async () => {
    const { clock, gateway } = createWorld({ claim: async () => [] });
    await clock.advance(60_000);
    expect(gateway.claims.length).toBeGreaterThan(3);
    expect(gateway.claims.length).toBeLessThan(40);
  });

  test.each(["ignored", "swallowed", "returned", "undelivered"] as const)(
    "[API-6-S16] a command that comes back and back because it is %s does not keep the service busy",
    async (outcome) => {
      const { clock, gateway } = createWorld({
        claim: async () => [sampleCall().command],
        runner: { handle: async () => ({ outcome }) },
      });
      await clock.advance(60_000);
      expect(gateway.claims.length).toBeLessThan(60);
    },
  );
});

describe("planClaimPause", () => {
  const calm = { failures: 0, quickEmpty: 0, unhandled: 0 };
  test.each([
    ["nothing is wrong", {}, 0],
    ["a failure", { failures: 1 }, 125],
    ["many failures", { failures: 50 }, 2_500],
    ["empty at once", { quickEmpty: 2 }, 250],
    ["unhandled", { unhandled: 3 }, 500],
    ["the worst counts", { failures: 1, unhandled: 3 }, 500],
  ])("[API-6-S16] %s", (_name, change, pauseMs) => {
    expect(planClaimPause({ ...calm, ...change }, () => 0)).toBe(pauseMs);
  });
});

describe("stopping", () => {
  test("[ARCH-7-S2] no more claims; running calls may end by themselves", async () => {
    const { gateway, handled, service, add } = createWorld();
    add("a");
    await until(() => handled.length === 1, "the call runs");
    await until(() => gateway.claims.length === 2, "the next claim waits");
    const stopped = service.stop();
    await settle();
    expect(handled[0]?.stop?.aborted).toBe(false);
    handled[0]?.finish();
    await stopped;
    await service.finished;
    expect(service.running()).toBe(0);
    expect(gateway.claims).toHaveLength(2);
  });

  test("[ARCH-7-S2] those that do not are told to stop, and have a last word", async () => {
    const { clock, handled, service, add } = createWorld();
    add("a");
    await until(() => handled.length === 1, "the call runs");
    let done = false;
    const stopped = service.stop({ drainMs: 3_000 }).then(() => {
      done = true;
    });
    await clock.advance(2_999);
    expect(handled[0]?.stop?.aborted).toBe(false);
    await clock.advance(1);
    expect(handled[0]?.stop?.aborted).toBe(true);
    expect(done).toBe(false);
    handled[0]?.finish("released");
    await stopped;
  });

  test("[ARCH-7-S2] and are not waited for without end", async () => {
    const { clock, handled, service, add } = createWorld();
    add("a");
    await until(() => handled.length === 1, "the call runs");
    const stopped = service.stop({ drainMs: 0 });
    await clock.advance(5_000);
    await stopped;
    expect(service.running()).toBe(1);
  });

  test("[ARCH-7-3] a claim that is answered while stopping is given back, not started", async () => {
    let answer: (commands: readonly ClaimedCommand[]) => void = () => {};
    const { gateway, handled, service } = createWorld({
      claim: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    await until(() => gateway.claims.length === 1, "the claim waits");
    const stopped = service.stop();
    answer([sampleCall().command]);
    await stopped;
    expect(handled).toEqual([]);
    expect(gateway.released).toEqual([{ toolCallId: "call_1", leaseId: "lease_1" }]);
  });

  test("[ARCH-7-S2] an idle service stops at once, also while it waits for its server; twice is once", async () => {
    const idle = createWorld();
    await settle();
    await Promise.all([idle.service.stop(), idle.service.stop()]);
    const away = createWorld({ claim: fails("upstream_unavailable") });
    await away.clock.advance(1_000);
    await away.service.stop();
    expect(away.clock.sleeping()).toBe(0);
  });
});
