// The project manager where NATS carries messages: task events bring results, and a command that breaks the protocol runs
// nothing, is terminated with its clause, and keeps no call from going on.
// Doors: NATS

import { batchIdOf } from "@toolplane/engine";
import { eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type NatsGround, openNatsGround } from "../carrier/nats-world.ts";
import { tasks } from "./fork.ts";
import { BOSS, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

const SUBJECT = `cg.v1r4.${PROJECT}.public.cmd.sys.pmo.internal.fork_join`;

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
  const headers = {
    "CG-Agent-Id": "boss",
    "CG-Turn-Id": asked.agentTurnId,
    "CG-Turn-Epoch": "1",
    "CG-Tool-Call-Id": asked.toolCallId,
    "CG-Recursion-Depth": "0",
    traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
  };
  const payload = { tool_call_card_id: "x", tool_name: "fork_join", after_execution: "suspend", args: { tasks: [] } };
  ground.bare.publish(SUBJECT, JSON.stringify(payload), { headers });
  await eventually(async () => (await ground.held("cmd")) >= 2);
  await world.serve();
  const terminated = await eventually(() => lines.find(({ text }) => text.includes("breaks the protocol")));
  expect(terminated?.reason).toMatch(/^UTP-C07: /);
  const [child] = await world.children(asked.agentTurnId);
  await world.finish(child?.agentId ?? "");
  expect(await world.engine.calls.wait({ projectId: PROJECT, toolCallId: asked.toolCallId }, 20_000)).toBe(true);
  expect((await world.resultOf(asked.toolCallId)).status).toBe("success");
  expect(world.engine.carried?.stats().answered.terminated).toBe(1);
  await listening.stop();
});

test("[UTP-11.6-D1] nine tasks put no command on NATS; a forged command with nine adds none to the eight of its call", async () => {
  await using world = await startPmoWorld({ carrier: await ground.carrier() });
  const { calls, batches } = world.engine;
  const heard: string[] = [];
  await ground.bare.listen(SUBJECT, ({ headers }) => heard.push(headers["CG-Tool-Call-Id"] ?? ""));
  const fork = (count: number) =>
    calls.dispatch({ projectId: PROJECT, toolName: "fork_join", arguments: { tasks: tasks(count) }, agentId: BOSS });
  await expect(fork(9)).rejects.toMatchObject({ code: "bad_request" });
  const made = await fork(8);
  await eventually(() => heard.includes(made.toolCallId));
  expect(heard).toEqual([made.toolCallId]);
  const { headers, callCardId } = await calls.get({ projectId: PROJECT, toolCallId: made.toolCallId });
  const payload = { tool_call_card_id: callCardId, tool_name: "fork_join", after_execution: "suspend" };
  const listening = await world.pmo.listen();
  const before = await ground.held("cmd");
  for (const more of [{ args: { tasks: tasks(9) } }, { arguments: { tasks: tasks(9) } }])
    ground.bare.publish(SUBJECT, JSON.stringify({ ...payload, ...more }), { headers });
  await eventually(async () => (await ground.held("cmd")) >= before + 2);
  await world.serve();
  await eventually(() => world.engine.carried?.stats().answered.terminated === 2);
  const batch = await batches.get({ projectId: PROJECT, batchId: batchIdOf(made.toolCallId) });
  expect(batch?.tasks).toHaveLength(8);
  await listening.stop();
});
