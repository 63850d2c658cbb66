// A definition may name a fixed channel in its subject: the command's header says that channel, whatever channel the caller is
// in, and services at every door can run it and report it.
// Doors: HTTP, NATS, in process

import { buildResult, HEADERS, tryParseSubject } from "@toolplane/protocol";
import { createRunner, defineTool, systemClock } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectWire } from "../gateway/wire-client.ts";
import { startHttpStack } from "../http/http-stack.ts";
import { openWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const definition = (target: string, options: Record<string, unknown> = {}) => ({
  tool_name: `count_${target}`,
  description: "Always in the channel ops",
  target_subject: `cg.v1r4.{project_id}.ops.cmd.tool.${target}.count`,
  after_execution: "suspend",
  parameters: { type: "object", properties: {} },
  options,
});

test("[DOOR-5-1] a service on NATS runs the calls of a tool whose subject names a channel", async () => {
  const channels: string[] = [];
  const tool = defineTool({
    name: "count_fixed",
    description: "Always in the channel ops",
    parameters: { type: "object", properties: {} } as const,
    retry: "safe",
    run: async (_args, { call }) => {
      channels.push(call.context.channelId);
      return { ok: true };
    },
  });
  await using _serving = await world.serve([tool], { target: "fixed" });
  // A service registers its tools for the caller's channel; an operator has decided otherwise.
  await world.engine.tools.upsertTool("demo", definition("fixed", { retry: "safe" }));
  const made = await world.engine.calls.call(
    { projectId: "demo", toolName: "count_fixed", arguments: {}, channelId: "u_1" },
    60_000,
  );
  const view = await world.engine.calls.get(made);
  expect(view).toMatchObject({ status: "success", channelId: "u_1", attempts: 1 });
  expect(view.headers[HEADERS.channelId]).toBe("ops");
  expect(tryParseSubject(view.subject)?.channelId).toBe("ops");
  expect(channels).toEqual(["ops"]);
});

test("[DOOR-5-1] a raw client on NATS reports such a call in its channel, and in no other", async () => {
  await world.engine.tools.upsertTool("demo", definition("heard", { service: "plain" }));
  await using client = await connectWire({ port: Number(new URL(world.nats.url).port) });
  const heard = client.subscribe("cg.v1r4.demo.ops.cmd.tool.heard.>");
  await client.flush();
  const toolCallId = await world.dispatch("count_heard");
  await expect.poll(() => heard.length).toBe(1);
  const [command] = heard;
  expect(command?.headers[HEADERS.channelId]).toBe("ops");
  const facts = await world.engine.calls.facts({ projectId: "demo", toolCallId });
  const { card, payload } = buildResult(
    {
      cardId: "heard-result",
      createdAt: "2026-01-01T00:00:00.000Z",
      projectId: "demo",
      agentTurnId: facts.agentTurnId,
      toolCallId,
      authorId: "tool.heard",
      toolName: "count_heard",
      afterExecution: "suspend",
      toolCallMetadata: { ...facts.lineage },
    },
    { status: "success", result: {} },
  );
  const { "Nats-Msg-Id": _id, ...headers } = command?.headers ?? {};
  const ask = async (operation: string, body: unknown, said: Record<string, string>, channel = "ops") => {
    const subject = `cg.v1r4.demo.${channel}.rpc.gateway.heard.${operation}`;
    return (await client.request(subject, JSON.stringify(body), { headers: said })).headers["CG-Status"];
  };
  expect(await ask("put_card", card, headers)).toBe("201");
  expect(await ask("report", payload, { ...headers, [HEADERS.channelId]: "u_1" }, "u_1")).toBe("400");
  expect(await ask("report", payload, headers)).toBe("200");
});

test("[DOOR-5-1] the same over HTTP and in the process", async () => {
  await using http = await startHttpStack({ tools: [] });
  const { engine, projectId } = http.t;
  await engine.tools.upsertTool(projectId, definition("far", { retry: "safe" }));
  const token = await http.toolToken(["far"]);
  await engine.calls.dispatch({ projectId, toolName: "count_far", arguments: {} });
  const claimed = await http.send(
    "POST",
    `/projects/${projectId}/tool-services/far/claim`,
    { wait_seconds: 0 },
    { token },
  );
  const [command] = claimed.body.commands;
  if (command === undefined) throw new RangeError("nothing was claimed");
  expect([command.subject.split(".")[3], command.headers[HEADERS.channelId]]).toEqual(["ops", "ops"]);
  const path = `/projects/${projectId}/calls/${command.headers[HEADERS.toolCallId]}/result`;
  const body = { lease: command.lease.id, status: "success", result: {} };
  const wrong = { token, headers: { ...command.headers, [HEADERS.channelId]: "public" } };
  expect((await http.send("POST", path, body, wrong)).body.error.code).toBe("protocol_violation");
  expect((await http.send("POST", path, body, { token, headers: command.headers })).status).toBe(200);

  const gateway = createEngineGateway({
    engine,
    projectId,
    actorId: "tool.far",
    holder: "a test",
    clock: systemClock,
    random: () => 0,
  });
  const executor = { find: () => undefined, execute: async () => ({}) };
  const runner = createRunner({ gateway, executor, target: "far", mode: "two-step" });
  const { toolCallId } = await engine.calls.dispatch({ projectId, toolName: "count_far", arguments: {} });
  const [own] = await gateway.claim({ target: "far", max: 1, waitMs: 0 });
  if (own === undefined) throw new RangeError("nothing was claimed");
  // It has no such tool, and says so: a result that arrives.
  expect(await runner.handle(own)).toMatchObject({ outcome: "settled", code: "not_found" });
  expect(await engine.calls.get({ projectId, toolCallId })).toMatchObject({ status: "failed", channelId: "public" });
});
