// A person's action over HTTP: one use of a tool in the name of an agent, answered as it is acknowledged.

import { createBrainSource, createWorker, UI_WORKER_TARGET } from "@toolplane/agents";
import { systemClock } from "@toolplane/engine";
import { eventually, resultFor } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const tool = (name: string, options: object) => ({
  tool_name: name,
  description: name,
  target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.${name}`,
  after_execution: "suspend",
  parameters: { type: "object", properties: {} },
  options,
});

const startScreen = async (http: HttpStack): Promise<AsyncDisposable> => {
  const { engine } = http.t;
  await http.send("POST", "/projects/demo/tools", tool("click", { retry: "safe", ui_allowed: true }));
  await http.send("POST", "/projects/demo/profiles", { name: "screen", worker_target: UI_WORKER_TARGET });
  for (const agent_id of ["ann", "bob"])
    await http.send("POST", "/projects/demo/agents", { agent_id, profile_name: "screen" });
  const brains = createBrainSource({ secret: () => undefined, clock: systemClock });
  const worker = createWorker({ engine, brains, workerTargets: [UI_WORKER_TARGET], lookMs: 200 });
  await worker.start();
  return { [Symbol.asyncDispose]: () => worker.stop() };
};

const act = (http: HttpStack, agent: string, body: object) =>
  http.send("POST", `/projects/demo/agents/${agent}/actions`, body);

const answer = async (http: HttpStack, result: object): Promise<void> => {
  const { engine, projectId } = http.t;
  const leased = await eventually(async () => {
    const [one] = await engine.calls.claim({ projectId, target: "test", holder: "h", max: 1 });
    return one;
  });
  if (leased !== undefined)
    await engine.calls.settle(resultFor(leased, { status: "success", result: result as never }));
};

test("[API-actions] [UTP-13.1-H1] an action is accepted at once, or answered when it is done; asked again it says how it ended", async () => {
  await using http = await startHttpStack();
  await using _screen = await startScreen(http);
  const body = { action_id: "a1", tool_name: "click", args: { what: "ok" }, message_id: "m1" };
  const first = await act(http, "ann", body);
  expect(first).toMatchObject({
    status: 202,
    body: { action_id: "a1", agent_id: "ann", message_id: "m1", status: "accepted", idempotent: false },
  });
  expect((await act(http, "ann", body)).body).toMatchObject({ status: "busy", error_code: "idempotency_inflight" });
  expect((await act(http, "ann", { tool_name: "click" })).body.error).toMatchObject({ code: "agent_busy" });
  const [waited] = await Promise.all([
    http.send("GET", `/projects/demo/turns/${first.body.agent_turn_id}?wait_seconds=30`),
    answer(http, { clicked: "ok" }),
  ]);
  expect(waited.body).toMatchObject({ kind: "ui_action", status: "success" });
  const again = await act(http, "ann", body);
  expect(again).toMatchObject({
    status: 200,
    body: { status: "done", idempotent: true, agent_turn_id: first.body.agent_turn_id },
  });
  expect(again.body.tool_result_card_id).toEqual(expect.any(String));
  const [done] = await Promise.all([
    act(http, "bob", { tool_name: "click", wait_seconds: 30 }),
    answer(http, { clicked: "b" }),
  ]);
  expect(done).toMatchObject({ status: 200, body: { status: "done", turn_status: "success", idempotent: false } });
});

test("[API-actions] [UTP-13.1-H1] what is refused has the status of its code, and the code a user interface knows", async () => {
  await using http = await startHttpStack();
  await using _screen = await startScreen(http);
  await http.send("POST", "/projects/demo/profiles", { name: "other", worker_target: "crew" });
  await http.send("POST", "/projects/demo/agents", { agent_id: "outsider", profile_name: "other" });
  const refusals: [string, object, number, string][] = [
    ["nobody", { tool_name: "click" }, 404, "agent_not_found"],
    ["outsider", { tool_name: "click" }, 409, "invalid_worker_target"],
    ["ann", { tool_name: "none" }, 404, "tool_definition_missing"],
    ["ann", { tool_name: "safe" }, 403, "ui_not_allowed"],
  ];
  for (const [agent, body, status, code] of refusals)
    expect(await act(http, agent, body)).toMatchObject({ status, body: { error: { detail: { error_code: code } } } });
  expect((await act(http, "ann", { tool_name: "click", args: 7 })).status).toBe(400);
  expect((await http.send("GET", "/projects/demo/turns")).body.items).toEqual([]);
});

test("[SEC-own-action] the token of an agent acts for its own agent only, whatever its delegation policy allows", async () => {
  await using http = await startHttpStack();
  await using _screen = await startScreen(http);
  const policy = { allowed_tools: ["click"], delegation_policy: { target_profiles: ["screen"] } };
  await http.send("POST", "/projects/demo/profiles", { name: "clicker", worker_target: UI_WORKER_TARGET, ...policy });
  await http.send("POST", "/projects/demo/agents", { agent_id: "carl", profile_name: "clicker" });
  const { secret } = await http.t.engine.tokens.create({ role: "agent", projectId: "demo", actorId: "carl" });
  const actAs = (agent: string) =>
    http.send("POST", `/projects/demo/agents/${agent}/actions`, { tool_name: "click" }, { token: secret });
  expect(await actAs("bob")).toMatchObject({ status: 403, body: { error: { code: "auth_failed" } } });
  expect(await actAs("carl")).toMatchObject({ status: 202 });
});

test("[SEC-15-3] an action that an agent's own token asks for counts as coming from outside; a person's does not", async () => {
  await using http = await startHttpStack();
  await using _screen = await startScreen(http);
  await http.send("POST", "/projects/demo/tools", tool("pay", { approval: "external", ui_allowed: true }));
  const profile = { name: "payer", worker_target: UI_WORKER_TARGET, allowed_tools: ["pay"] };
  await http.send("POST", "/projects/demo/profiles", profile);
  await http.send("POST", "/projects/demo/agents", { agent_id: "carl", profile_name: "payer" });
  const { secret } = await http.t.engine.tokens.create({ role: "agent", projectId: "demo", actorId: "carl" });
  const actions = "/projects/demo/agents/carl/actions";
  expect((await http.send("POST", actions, { tool_name: "pay" }, { token: secret })).status).toBe(202);
  const waiting = await eventually(async () => {
    const { items } = (await http.send("GET", "/projects/demo/approvals")).body;
    return items.length > 0 ? items : undefined;
  });
  expect(waiting).toMatchObject([{ tool_name: "pay" }]);
  expect((await act(http, "ann", { tool_name: "pay" })).status).toBe(202);
  await answer(http, { paid: true });
});
