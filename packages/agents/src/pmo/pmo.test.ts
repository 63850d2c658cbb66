import type { Engine } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { silentLog } from "@toolplane/sdk";
import { expect, test } from "vitest";
import { createPmo, type PmoOptions } from "./pmo.ts";

type Bus = Engine["bus"];

const SUBJECT = "cg.v1r4.p1.public.evt.agent.a1.task";

/** The handler of task events, and what the log says of them. */
const listenTo = async (turnEnded: () => Promise<unknown>) => {
  const lines: string[] = [];
  let handler: Parameters<Bus["consume"]>[1] | undefined;
  const consume: Bus["consume"] = async ({ durable }, given) => {
    handler = given;
    return { durable, stop: async () => undefined };
  };
  const log = {
    ...silentLog,
    warn: (message: string, fields?: object) => void lines.push(JSON.stringify({ message, ...fields })),
  };
  const engine = { batches: { turnEnded } } as unknown as PmoOptions["engine"];
  await createPmo({ engine, bus: { consume } as unknown as Bus, log }).listen();
  return { lines, hear: async (payload: string) => handler?.({ subject: SUBJECT, headers: {}, payload } as never) };
};

test.each([
  ["no JSON", "hunter2 is no JSON"],
  ["JSON of another shape", '{"hunter2": ["hunter2"]}'],
  ["an event the engine refuses", '{"agent_turn_id": "t", "status": "success"}'],
])("a task event that cannot be followed is named in the log without what it holds: %s", async (_, payload) => {
  const { lines, hear } = await listenTo(() => Promise.reject(new ToolplaneError("storage_error", "hunter2")));
  await hear(payload);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(SUBJECT);
  expect(lines[0]).not.toContain("hunter2");
});
