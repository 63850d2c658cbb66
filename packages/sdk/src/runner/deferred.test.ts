import { describe, expect, test } from "vitest";
import { createRunnerWorld } from "../../test/runner-world.ts";
import { deferCall } from "./deferred.ts";

describe("a call whose result comes later", () => {
  test("[UTP-11.6-R1] nothing is reported or given back, and no heartbeat follows", async () => {
    const world = createRunnerWorld({ run: () => deferCall("batch:b1"), profile: { retry: "safe" } });
    expect(await world.runner.handle(world.call.command)).toEqual({
      outcome: "deferred",
      toolCallId: "call_1",
      toolName: "count_words",
    });
    expect(world.gateway.operations).toEqual(["readCard"]);
    expect(world.clock.sleeping()).toBe(0);
    expect(world.runs()).toBe(1);
  });

  test("the same command again under the same lease is not run again", async () => {
    const world = createRunnerWorld({ run: () => deferCall("batch:b1"), mode: "two-step" });
    await world.runner.handle(world.call.command);
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "deferred" });
    expect(world.runs()).toBe(1);
    expect(world.gateway.operations).toEqual(["readCard"]);
  });

  test("a result that only looks like it is a result", async () => {
    const world = createRunnerWorld({ run: () => ({ ...deferCall("batch:b1") }) });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "settled" });
    expect(world.gateway.settled[0]?.result).toEqual({ holder: "batch:b1" });
  });
});

describe("a service of the plane itself", () => {
  test("[UTP-11.1-R1] takes commands of its own component only, signs as sys.<target>, and sees the subject", async () => {
    const subject = "cg.v1r4.demo.public.cmd.sys.text.internal.count_words";
    const seen: unknown[] = [];
    const world = createRunnerWorld({
      component: "sys",
      mode: "two-step",
      calls: [{ subject }, { callId: "call_2" }],
      run: (call) => {
        seen.push(call.subject);
      },
    });
    const [own, other] = world.calls;
    expect(own && (await world.runner.handle(own.command))).toMatchObject({ outcome: "settled" });
    expect(other && (await world.runner.handle(other.command))).toMatchObject({ outcome: "ignored" });
    expect(seen).toEqual([subject]);
    expect(world.gateway.cards[0]?.author_id).toBe("sys.text");
  });
});
