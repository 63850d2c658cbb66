// Sections 6.1, 6.5, 8.3, 8.4 and 8.6 of the protocol over a real NATS server: what a service says and is sent, and what a
// raw client can say in between.
// Doors: NATS

import { HEADERS } from "@toolplane/protocol";
import { defineTool } from "@toolplane/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectWire, type WireClient } from "../gateway/wire-client.ts";
import { openWorld, type World } from "../sdk-nats/world.ts";

let world: World;
let stranger: WireClient;
beforeAll(async () => {
  world = await openWorld();
  stranger = await connectWire({ port: Number(new URL(world.nats.url).port) });
});
afterAll(async () => {
  await stranger[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const PARAMETERS = { type: "object", properties: {} } as const;
const toolOf = (name: string, run: () => Promise<unknown>, retry: "safe" | "never" = "safe") =>
  defineTool({ name, description: "For tests", parameters: PARAMETERS, retry, run });

const viewOf = (toolCallId: string) => world.engine.calls.get({ projectId: "demo", toolCallId });
const ask = async (subject: string, body: object, headers: Readonly<Record<string, string>>) => {
  const { payload } = await stranger.request(subject, JSON.stringify(body), { headers });
  return JSON.parse(payload) as { readonly error?: { readonly code: string } };
};

test("[UTP-8.3-8] [UTP-8.3-9] [UTP-8.8-C13] what a tool returns is a success, what it throws without a code its own failure", async () => {
  const fine = toolOf("fine", async () => ({ n: 1 }));
  const broken = toolOf("broken", async () => {
    throw new RangeError("index out of range");
  });
  await using _serving = await world.serve([fine, broken], { target: "results" });
  const good = await world.call("fine");
  expect([good.status, await world.resultOf(good)]).toEqual(["success", { n: 1 }]);
  expect(await world.call("broken")).toMatchObject({ status: "failed", errorCode: "internal_error" });
});

test("[UTP-8.6-2] [UTP-8.3-14] one command heard many times, before and after its end, runs once and settles once", async () => {
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  let runs = 0;
  const hear = async () => {
    runs += 1;
    entered.resolve();
    await leave.promise;
    return { runs };
  };
  // Its service fetches commands and hears each; that of a safe tool waits at the gateway and hears none.
  const slow = toolOf("heard", hear, "never");
  await using _serving = await world.serve([slow], { target: "heard", concurrency: 4 });
  const toolCallId = await world.dispatch("heard");
  await entered.promise;
  const { subject, headers, callCardId, toolName, afterExecution } = await viewOf(toolCallId);
  const payload = { tool_call_card_id: callCardId, tool_name: toolName, after_execution: afterExecution };
  const again = () => stranger.publish(subject, JSON.stringify(payload), { headers });
  for (let index = 0; index < 5; index += 1) again();
  await stranger.flush();
  leave.resolve();
  const settled = await world.until(toolCallId, "success");
  for (let index = 0; index < 5; index += 1) again();
  await stranger.flush();
  await expect.poll(() => world.waitingCommands("heard")).toBe(0);
  expect(runs).toBe(1);
  expect(await viewOf(toolCallId)).toMatchObject({ attempts: 1, resultCardId: settled.resultCardId });
});

test("[UTP-8.3-1] a command for another target or project, or of another class, is not handled", async () => {
  let runs = 0;
  const counted = toolOf("counted", async () => {
    runs += 1;
    return {};
  });
  await (await world.serve([counted], { target: "counted" })).stop();
  const later = await world.engine.calls.dispatch({
    projectId: "demo",
    toolName: "counted",
    arguments: {},
    notBeforeMs: Date.now() + 3_600_000,
  });
  const { headers, callCardId, publishes } = await viewOf(later.toolCallId);
  const payload = JSON.stringify({
    tool_call_card_id: callCardId,
    tool_name: "counted",
    after_execution: "suspend",
  });
  await using _serving = await world.serve([counted], { target: "counted" });
  for (const subject of [
    "cg.v1r4.demo.public.cmd.tool.uncounted.counted",
    "cg.v1r4.other.public.cmd.tool.counted.counted",
    "cg.v1r4.demo.public.cmd.sys.counted.counted",
    "cg.v1r4.demo.public.evt.tool.counted.counted",
    "cg.v1r3.demo.public.cmd.tool.counted.counted",
    "cg.v1r4.demo.public.cmd.tool.counted",
  ])
    stranger.publish(subject, payload, { headers });
  await stranger.flush();
  expect(await world.call("counted")).toMatchObject({ status: "success" });
  expect(runs).toBe(1);
  expect(await viewOf(later.toolCallId)).toMatchObject({ status: "queued", attempts: 0, publishes });
});

test("[UTP-6.5-actor] [UTP-11.1-R3] [UTP-6.2-1] another actor, another project and a call that is not there are refused at every operation", async () => {
  const idle = toolOf("idle", async () => ({}));
  await (await world.serve([idle], { target: "idle" })).stop();
  await world.engine.projects.createProject({ project_id: "managed", title: "Managed" }, "sys.test");
  const mine = await world.dispatch("idle");
  const delegate = { target_strategy: "new", target_ref: "x", instruction: "y" };
  const theirs = await world.dispatch("delegate_async", delegate, { projectId: "managed" });
  const facts = await viewOf(mine);
  const managed = await world.engine.calls.get({ projectId: "managed", toolCallId: theirs });
  const wrong: string[] = [];
  for (const [what, at, { headers, callCardId, toolName }, codes] of [
    ["another actor", "demo.public.rpc.gateway.other", facts, ["auth_failed"]],
    ["another project", "managed.public.rpc.gateway.idle", facts, ["not_found", "protocol_violation"]],
    ["the project manager's call", "managed.public.rpc.gateway.pmo", managed, ["auth_failed"]],
    [
      "a call that is not there",
      "demo.public.rpc.gateway.idle",
      { ...facts, headers: { ...facts.headers, [HEADERS.toolCallId]: "nothing" } },
      ["not_found"],
    ],
  ] as const) {
    const command = { tool_call_card_id: callCardId, tool_name: toolName, after_execution: "suspend" };
    const report = { status: "success", after_execution: "suspend", tool_result_card_id: "card" };
    for (const [operation, body] of Object.entries({
      lease: command,
      get_card: {},
      heartbeat: { lease: "x" },
      release: { lease: "x" },
      settle: { lease: "x", status: "success", result: {} },
      report,
    })) {
      const { error } = await ask(`cg.v1r4.${at}.${operation}`, body, headers);
      if (!(codes as readonly (string | undefined)[]).includes(error?.code))
        wrong.push(`${operation}, ${what}: ${error?.code}`);
    }
  }
  expect(wrong).toEqual([]);
  for (const { projectId, toolCallId } of [facts, managed]) {
    const untouched = { status: "queued", attempts: 0, resultCardId: null, leaseHolder: null };
    expect(await world.engine.calls.get({ projectId, toolCallId })).toMatchObject(untouched);
  }
});
