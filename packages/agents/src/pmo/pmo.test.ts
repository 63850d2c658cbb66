import type { JudgeCommand } from "@toolplane/engine";
import type { Carried } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import { silentLog } from "@toolplane/sdk";
import { expect, test } from "vitest";
import { createPmo, type PmoOptions } from "./pmo.ts";

const SUBJECT = "cg.v1r4.p1.public.evt.agent.a1.task";

/** The handler of task events, and what the log says of them. */
const listenTo = async (turnEnded: () => Promise<unknown>) => {
  const lines: string[] = [];
  let handler: Parameters<Carried["consume"]>[1] | undefined;
  let judge: JudgeCommand = () => undefined;
  const consume: Carried["consume"] = async ({ durable }, given) => {
    handler = given;
    return { durable, stop: async () => undefined };
  };
  const log = {
    ...silentLog,
    warn: (message: string, fields?: object) => void lines.push(JSON.stringify({ message, ...fields })),
  };
  const inspect: Carried["inspect"] = (given) => {
    judge = given;
    return () => {};
  };
  const engine = { batches: { turnEnded }, carried: { consume, inspect } } as unknown as PmoOptions["engine"];
  await createPmo({ engine, log }).listen();
  return {
    lines,
    judge: (...command: Parameters<JudgeCommand>) => judge(...command),
    hear: async (payload: string) => handler?.({ subject: SUBJECT, headers: {}, payload } as never),
  };
};

test.each([
  ["no JSON", "hunter2 is not JSON"],
  ["JSON of another shape", '{"hunter2": ["hunter2"]}'],
  ["an event the engine refuses", '{"agent_turn_id": "t", "status": "success"}'],
])("a task event that cannot be followed is named in the log without what it holds: %s", async (_, payload) => {
  const { lines, hear } = await listenTo(() => Promise.reject(new ToolplaneError("storage_error", "hunter2")));
  await hear(payload);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(SUBJECT);
  expect(lines[0]).not.toContain("hunter2");
});

const COMMAND = {
  subject: "cg.v1r4.p1.public.cmd.sys.pmo.internal.delegate_async",
  headers: {
    "CG-Agent-Id": "a1",
    "CG-Turn-Id": "turn_1",
    "CG-Turn-Epoch": "1",
    "CG-Tool-Call-Id": "call_1",
    "CG-Recursion-Depth": "0",
    traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
  },
  payload: '{"tool_call_card_id":"c","tool_name":"delegate_async","after_execution":"suspend"}',
};

test.each([
  ["no JSON", { payload: "{" }, "UTP-C13"],
  ["arguments inside", { payload: COMMAND.payload.replace("}", ',"args":{}}') }, "UTP-C07"],
  ["no after_execution", { payload: '{"tool_call_card_id":"c","tool_name":"delegate_async"}' }, "UTP-C45"],
  ["no call", { headers: { ...COMMAND.headers, "CG-Tool-Call-Id": "" } }, "UTP-C10"],
])(
  "[UTP-8.3-P1] a command on the bus that breaks the protocol is named with its clause: %s",
  async (_, wrong, clause) => {
    const { judge } = await listenTo(async () => {});
    expect(judge(COMMAND)).toBeUndefined();
    expect(judge({ ...COMMAND, ...wrong })).toMatch(clause);
  },
);
