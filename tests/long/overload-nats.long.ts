// The gateway on NATS with five times as many requests in hand as it takes, for a minute, while calls are made and run by a service on
// NATS. The figures go to docs/records/limits.md. OVERLOAD_SECONDS makes it shorter.

import { setTimeout as delay } from "node:timers/promises";
import { defineTool } from "@toolplane/sdk";
import { runTestProgram, until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openWorld } from "../sdk-nats/world.ts";
import { backToNormal, middle, say, tenOf, watchMemory } from "./limits/overload-figures.ts";

const FLOOD_MS = Number(process.env.OVERLOAD_SECONDS ?? "60") * 1_000;
/** What the gateway of one process has in hand at most. */
const ROOM = 1_024;
const IN_HAND = 5 * ROOM;
const CALLERS = 8;
const PATIENCE_MS = 120_000;

test("[LIM-long] a flood of the NATS gateway is refused, calls settle meanwhile, and the plane is itself again", async () => {
  await using world = await openWorld();
  const { engine, test: t, nats } = world;
  const work = defineTool({
    name: "work",
    description: "Takes a moment",
    parameters: { type: "object", properties: {} } as const,
    retry: "safe",
    run: () => delay(20, "done"),
  });
  const serving = await world.serve([work], { target: "test", concurrency: 8 });
  const ends = new Map<string, number>();
  const call = async (): Promise<number> => {
    const began = performance.now();
    const { status } = await engine.calls.call(
      { projectId: t.projectId, toolName: "work", arguments: {} },
      PATIENCE_MS,
    );
    ends.set(status, (ends.get(status) ?? 0) + 1);
    return performance.now() - began;
  };
  const latency = async (count = 20): Promise<number> => {
    const times: number[] = [];
    for (let one = 0; one < count; one++) times.push(await call());
    return Math.round(middle(times));
  };
  await latency();
  const normal = await latency(40);
  ends.clear();
  let isOn = true;
  const memory = watchMemory(process.pid, () => isOn);
  const meanwhile: number[] = [];
  const callers = Array.from({ length: CALLERS }, async () => {
    while (isOn) meanwhile.push(await call());
  });
  await using flood = runTestProgram(new URL("limits/gateway-flood.ts", import.meta.url), [
    nats.url,
    String(IN_HAND),
    String(FLOOD_MS),
  ]);
  const answers = (await flood.next()) as Record<string, number>;
  isOn = false;
  const { after, seconds } = await backToNormal(normal, () => latency(10));
  await Promise.all(callers);
  const isIdle = async (): Promise<boolean> => (await engine.depths()).calls.length === 0;
  await until("every call to settle", isIdle, PATIENCE_MS);
  const seen = await memory;
  say("NATS gateway", {
    "requests in hand": IN_HAND,
    seconds: FLOOD_MS / 1_000,
    answers: JSON.stringify(answers),
    "calls meanwhile": JSON.stringify(Object.fromEntries(ends)),
    "ms of a call before": normal,
    meanwhile: Math.round(middle(meanwhile)),
    after,
    "back to normal after s": seconds,
    "memory MB": tenOf(seen),
  });
  await serving.stop();
  expect([...ends.keys()]).toEqual(["success"]);
  expect(answers.rate_limited ?? 0).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(10);
  expect(Math.max(...seen)).toBeLessThan(2 * (seen[Math.min(5, seen.length - 1)] ?? 0) + 100);
});
