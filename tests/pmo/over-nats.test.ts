// The project manager where NATS carries messages: task events bring results, and a command that breaks the protocol runs
// nothing, is terminated with its clause, and keeps no call from going on.
// Doors: NATS

import { eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type NatsGround, openNatsGround } from "../carrier/nats-world.ts";
import { PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

let ground: NatsGround;
beforeAll(async () => {
  ground = await openNatsGround();
});
afterAll(() => ground[Symbol.asyncDispose]());

test("[UTP-11.6-R6] [UTP-8.3-P1] a task event brings the result; a malformed command is terminated and its call goes on", async () => {
  const lines: { readonly text: string; readonly reason?: unknown }[] = [];
  const log = {
    info: () => {},
    error: () => {},
    warn: (text: string, fields: object = {}) => void lines.push({ text, ...fields }),
  };
  await using world = await startPmoWorld({ carrier: await ground.carrier(), log });
  const listening = await world.pmo.listen();
  const asked = await world.ask("fork_join", { tasks: [WORKER] });
  // The same call, with what may not be in a command.
  const subject = `cg.v1r4.${PROJECT}.public.cmd.sys.pmo.internal.fork_join`;
  const headers = {
    "CG-Agent-Id": "boss",
    "CG-Turn-Id": asked.agentTurnId,
    "CG-Turn-Epoch": "1",
    "CG-Tool-Call-Id": asked.toolCallId,
    "CG-Recursion-Depth": "0",
    traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
  };
  const payload = { tool_call_card_id: "x", tool_name: "fork_join", after_execution: "suspend", args: { tasks: [] } };
  ground.bare.publish(subject, JSON.stringify(payload), { headers });
  await eventually(async () => (await ground.held("cmd")) >= 2);
  await world.serve();
  const terminated = await eventually(() => lines.find(({ text }) => text.includes("breaks the protocol")));
  expect(terminated?.reason).toMatch(/^UTP-C07: /);
  const [child] = await world.children(asked.agentTurnId);
  await world.finish(child?.agentId ?? "");
  expect(await world.engine.calls.wait({ projectId: PROJECT, toolCallId: asked.toolCallId }, 20_000)).toBe(true);
  expect((await world.resultOf(asked.toolCallId)).status).toBe("success");
  expect((await world.engine.stats()).carrier?.answered.terminated).toBe(1);
  await listening.stop();
});
