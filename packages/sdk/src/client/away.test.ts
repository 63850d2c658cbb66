// How long a client asks while its server is away.

import { describe, expect, test } from "vitest";
import { HANG_UP, inTurn, STARTING, startLost } from "../../test/away-server.ts";
import { failure, passTime, startWorld, type World } from "../../test/client-world.ts";
import type { Plane } from "./plane.ts";

const secondsOf = async ({ clock }: Pick<World, "clock">, promise: Promise<unknown>): Promise<number> => {
  const began = clock.now();
  await passTime(clock, promise);
  return (clock.now() - began) / 1_000;
};

describe("how long a client asks", () => {
  test.each([6, 8, 14])("[API-6-C5] a wait of %i seconds is used to its end", async (wait) => {
    await using world = await startWorld(inTurn(HANG_UP));
    expect(await secondsOf(world, failure(world.plane.call("once", {}, { wait })))).toBe(wait);
  });

  test("[API-6-C1] a client that never reached its server gives up after five seconds, also long after it was made", async () => {
    const { plane, clock, asked } = startLost();
    await clock.advance(60_000);
    await passTime(clock, failure(plane.call("once", {}, { wait: 3_600 })));
    expect([asked[0], asked.at(-1)]).toEqual([60, 65]);
  });

  test.each([
    ["start", (plane: Plane) => plane.start("once")],
    ["read", (plane: Plane) => plane.read("c-1")],
    ["why", (plane: Plane) => plane.why("c-1")],
    ["cancel", (plane: Plane) => plane.cancel("c-1")],
    ["tools", (plane: Plane) => plane.tools()],
  ])("[API-6-C9] %s asks for ten seconds, also a server that starts", async (_, ask) => {
    await using world = await startWorld(inTurn(HANG_UP));
    expect(await secondsOf(world, failure(ask(world.plane)))).toBe(10);
    world.server.answer = inTurn(STARTING);
    expect(await secondsOf(world, failure(ask(world.plane)))).toBe(10);
  });
});
