import type { CarrierBus } from "@toolplane/bus";
import type { Carrier } from "@toolplane/engine";
import { createMemoryCarrier, startTestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";

test("[BUS-9] a message that a carrier gives up twice is one dead letter, and another message is another", async () => {
  const memory = createMemoryCarrier();
  const { promise: means, resolve } = Promise.withResolvers<Parameters<Carrier["open"]>[0]>();
  const open = (given: Parameters<Carrier["open"]>[0]): CarrierBus => {
    resolve(given);
    return memory.open(given);
  };
  await using t = await startTestEngine({ carrier: { ...memory, open } });
  const { bury } = await means;
  const subject = `cg.v1r4.${t.projectId}.public.cmd.tool.desk.ping`;
  const lost = {
    subject,
    headers: {},
    durable: "desk",
    code: "max_deliver",
    reason: "too often",
    attempts: 2,
  } as const;
  for (const [lostId, payload] of [
    ["desk.1", "first"],
    ["desk.1", "first"],
    ["desk.2", "second"],
  ] as const)
    await bury({ ...lost, lostId, payload });
  const letters = await t.engine.deadLetters.list(t.projectId);
  expect(letters.map(({ payload }) => payload).sort()).toEqual(["first", "second"]);
});
