import type { BusMessage, CarrierBus } from "@toolplane/bus";
import { expect, test } from "vitest";
import { consumeWakeups } from "./consume-wakeups.ts";

test("[UTP-2.2-3] a wakeup rings the agent of its CG-Agent-Id; without one it is dropped with a line in the log", async () => {
  const rung: unknown[] = [];
  const warned: string[] = [];
  let handle: (message: Pick<BusMessage, "subject" | "headers">) => unknown = () => undefined;
  const bus: Pick<CarrierBus, "consume"> = {
    consume: async (_consumption, handler) => {
      handle = handler as typeof handle;
      return { durable: "d", stop: async () => {} };
    },
  };
  const log = { info: () => {}, warn: (message: string) => void warned.push(message), error: () => {} };
  await consumeWakeups({ bus, server: { workerTargets: ["pool"], rung: (key) => rung.push(key) > 0 }, log });
  const subject = "cg.v1r4.demo.public.cmd.agent.pool.wakeup";
  for (const headers of [{ "CG-Agent-Id": "ann" }, {}, { "CG-Agent-Id": "" }]) await handle({ subject, headers });
  expect(rung).toEqual([{ projectId: "demo", agentId: "ann" }]);
  expect(warned).toHaveLength(2);
});
