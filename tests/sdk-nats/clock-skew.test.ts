// Services whose clocks are an hour off: times on the wire are the plane's, and a service reckons with how long, never with
// when.

import { type Clock, defineTool } from "@toolplane/sdk";
import { systemClock } from "@toolplane/sdk/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGate, openWorld, type World } from "./world.ts";

const HOUR_MS = 3_600_000;
/** Renewed after a third of it; long enough for a machine that stands still for some seconds. */
const LEASE_SECONDS = 9;

let world: World;
beforeAll(async () => {
  world = await openWorld({ leaseSeconds: LEASE_SECONDS });
});
afterAll(() => world[Symbol.asyncDispose]());

const offBy = (ms: number): Clock => ({ ...systemClock, now: () => Date.now() + ms });

test.concurrent.each([
  ["ahead", HOUR_MS],
  ["behind", -HOUR_MS],
])(
  "[API-5-N1] a service whose clock is an hour %s keeps its leases, ends at its deadline, and dates nothing by it",
  async (name, ms) => {
    const gate = createGate();
    const told = createGate();
    const held = defineTool({
      name: `held_${name}`,
      description: "Waits for the test",
      parameters: { type: "object" } as const,
      run: async () => {
        await gate.whenOpen;
        return {};
      },
    });
    const endless = defineTool({
      name: `endless_${name}`,
      description: "Waits for its end",
      parameters: { type: "object" } as const,
      timeoutSeconds: 1,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            told.open();
            reject(signal.reason as Error);
          });
        }),
    });
    await using _serving = await world.serve([held, endless], { target: name, clock: offBy(ms) });

    const toolCallId = await world.dispatch(held.name);
    const { leaseExpiresAt: first } = await world.until(toolCallId, "running");
    const key = { projectId: "demo", toolCallId };
    const lease = async () => (await world.engine.calls.get(key)).leaseExpiresAt?.getTime() ?? 0;
    await expect.poll(lease).toBeGreaterThan(first?.getTime() ?? 0);
    gate.open();
    const view = await world.until(toolCallId, "success");
    expect(view.attempts).toBe(1);
    const [card] = await world.engine.cards.getCards("demo", [view.resultCardId ?? ""]);
    expect(Math.abs(Date.parse(card?.created_at ?? "") - Date.now())).toBeLessThan(HOUR_MS / 2);

    const ended = await world.call(endless.name);
    expect(ended).toMatchObject({ status: "timeout", attempts: 1 });
    await told.whenOpen;
  },
);
