// Failing at each named moment of the bus: what was promised still holds, and what was not promised is repeated.

import type { FaultPoint, Faults } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import { createCollector, eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresHarness, type PostgresHarness } from "./postgres-harness.ts";

let harness: PostgresHarness;
beforeAll(async () => {
  harness = await openPostgresHarness();
});
afterAll(async () => {
  await harness.close();
});

/** Fails once, the first time the point is reached. */
const failAt = (point: FaultPoint): Faults & { readonly reached: () => boolean } => {
  let reached = false;
  return {
    reached: () => reached,
    at: (now) => {
      if (now !== point || reached) return;
      reached = true;
      throw new ToolplaneError("storage_error", `failed at ${point}`);
    },
  };
};

interface Expectation {
  readonly point: FaultPoint;
  /** Whether the first publish is refused. */
  readonly refused: boolean;
  readonly attempts: readonly number[];
}

const EXPECTED: readonly Expectation[] = [
  { point: "publish:before-commit", refused: true, attempts: [1] },
  // Stored although the publisher was told otherwise: the same id again is the same message.
  { point: "publish:after-commit", refused: true, attempts: [1] },
  { point: "deliver:before-commit", refused: false, attempts: [1] },
  // Handed out to nobody: the claim lapses.
  { point: "deliver:after-commit", refused: false, attempts: [2] },
  { point: "ack:before-commit", refused: false, attempts: [1, 2] },
  { point: "ack:after-commit", refused: false, attempts: [1] },
];

describe.each(["cmd", "evt"] as const)("%s", (category) => {
  test.each(EXPECTED)("[ARCH-6-39] failing once at $point loses nothing", async ({ point, refused, attempts }) => {
    const faults = failAt(point);
    const project = `p_${category}_${point.replaceAll(/[^a-z]/g, "_")}`;
    const [writer, reader] = [harness.start({ faults }), harness.start({ faults })];
    const came = createCollector<number>();
    const component = category === "cmd" ? "tool" : "agent";
    const message = {
      subject: `cg.v1r4.${project}.public.${category}.${component}.desk.work`,
      headers: {},
      payload: "precious",
      messageId: "m1",
    };
    const subscribe = () =>
      reader.bus.consume(
        {
          durable: `d_${project}`.slice(0, 64),
          pattern: `cg.v1r4.${project}.*.${category}.${component}.desk.>`,
          category,
          deliver: "all",
          ackWaitMs: 300,
        },
        ({ attempt }) => came.push(attempt),
      );
    const publish = writer.bus.publish([message]);
    if (refused) {
      await expect(publish).rejects.toMatchObject({ code: "storage_error" });
      await writer.bus.publish([message]);
    } else await publish;
    await subscribe();
    await came.until(attempts.length);
    const open = {
      cmd: "select id from bus.messages where project_id = $1",
      evt: "select d.id from bus.deliveries d join bus.messages m using (id) where m.project_id = $1",
    };
    const settled = async () => (await harness.rows(open[category], [project])).length === 0;
    await eventually(settled);
    expect(faults.reached()).toBe(true);
    expect(came.items).toEqual(attempts);
  });
});
