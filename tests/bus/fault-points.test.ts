// Failing at each named moment of publishing: what was promised holds, and what was not promised is repeated.

import type { FaultPoint, Faults } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
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

// After the commit it is stored although the publisher was told otherwise: the same id again is the same message.
test.each(["publish:before-commit", "publish:after-commit"] as const)(
  "[ARCH-6-39] failing once at %s loses nothing",
  async (point) => {
    const faults = failAt(point);
    const project = `p_${point.replaceAll(/[^a-z]/g, "_")}`;
    const { bus } = harness.start({ faults });
    const subject = `cg.v1r4.${project}.public.evt.agent.desk.work`;
    const message = { subject, headers: {}, payload: "precious", messageId: "m1" };
    await expect(bus.publish([message])).rejects.toMatchObject({ code: "storage_error" });
    await bus.publish([message]);
    expect(faults.reached()).toBe(true);
    expect((await harness.logged(project)).map(({ payload }) => payload)).toEqual(["precious"]);
  },
);
