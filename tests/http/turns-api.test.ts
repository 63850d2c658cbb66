// Turns over HTTP: asked for, waited for, listed, shown, stopped.

import { createBrainSource, createWorker } from "@toolplane/agents";
import { systemClock } from "@toolplane/engine";
import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const profile = (name: string, steps: readonly unknown[]) => ({
  name,
  worker_target: "crew",
  allowed_tools: ["unsafe"],
  allowed_internal_tools: ["submit_result"],
  llm_config: { provider: "script", script: { steps } },
});

const startAgents = async (http: HttpStack): Promise<AsyncDisposable> => {
  const { engine } = http.t;
  for (const upload of [
    profile("echoes", [{ finish: "you said: {{instruction}}" }]),
    profile("fields", [{ submit: { fields: [{ name: "total", value: "7" }] } }]),
    // Nobody serves the tool: the turn stays suspended.
    profile("waits", [{ call: { tool: "unsafe", arguments: {} } }, { finish: "late" }]),
    profile("fails", [{ fail: { code: "bad_request", message: "no idea" } }]),
  ]) {
    await http.send("POST", "/projects/demo/profiles", upload);
    await http.send("POST", "/projects/demo/agents", { agent_id: upload.name, profile_name: upload.name });
  }
  const brains = createBrainSource({ secret: () => undefined, clock: systemClock });
  const worker = createWorker({ engine, brains, workerTargets: ["crew"], lookMs: 200 });
  await worker.start();
  return { [Symbol.asyncDispose]: () => worker.stop() };
};

const ask = (http: HttpStack, agent: string, body: object, headers: Record<string, string> = {}) =>
  http.send("POST", `/projects/demo/agents/${agent}/turns`, body, { headers });

test("[API-turns] a turn is asked for and waited for; its deliverable is in the answer", async () => {
  await using http = await startHttpStack();
  await using _agents = await startAgents(http);
  const done = await ask(http, "echoes", { instruction: "hello", wait_seconds: 30 });
  expect(done).toMatchObject({
    status: 200,
    body: { agent_id: "echoes", status: "success", deliverable: "you said: hello", step_count: 1, error: null },
  });
  const shown = await http.send("GET", `/projects/demo/turns/${done.body.agent_turn_id}`);
  expect(shown.body).toMatchObject({ status: "success", steps: [{ status: "completed" }], recursion_depth: 0 });
  const failed = await ask(http, "fails", { instruction: "x", wait_seconds: 30 });
  expect(failed.body).toMatchObject({ status: "failed", error: { code: "bad_request", message: "no idea" } });
  expect(failed.body.deliverable).toMatchObject({ kind: "fallback_deliverable" });
  const fields = await ask(http, "fields", { instruction: "x", result_fields: [{ name: "total" }], wait_seconds: 30 });
  expect(fields.body).toMatchObject({ status: "success", deliverable: { fields: [{ name: "total", value: "7" }] } });
});

test("[API-turns] the same key is the same turn; turns of one agent wait in line and are listed, newest first", async () => {
  await using http = await startHttpStack();
  await using _agents = await startAgents(http);
  const key = { "idempotency-key": "k1" };
  const first = await ask(http, "waits", { instruction: "one" }, key);
  expect(first.status).toBe(202);
  const again = await ask(http, "waits", { instruction: "one" }, key);
  expect(again.body).toMatchObject({ agent_turn_id: first.body.agent_turn_id, idempotent: true });
  expect((await ask(http, "waits", { instruction: "other" }, key)).status).toBe(409);
  const second = await ask(http, "waits", { instruction: "two" });
  expect(second.body.status).toBe("queued");
  const list = async (query: string) => (await http.send("GET", `/projects/demo/turns?${query}`)).body;
  expect((await list("agent_id=waits")).items.map((turn: { agent_turn_id: string }) => turn.agent_turn_id)).toEqual([
    second.body.agent_turn_id,
    first.body.agent_turn_id,
  ]);
  expect((await list("status=queued")).items).toHaveLength(1);
  const page = await list("limit=1");
  expect((await list(`limit=1&cursor=${page.next_cursor}`)).items[0]?.agent_turn_id).toBe(first.body.agent_turn_id);
});

test("[API-turns] stopping ends a turn where it is, cancels its calls, and the next one begins", async () => {
  await using http = await startHttpStack();
  await using _agents = await startAgents(http);
  const first = (await ask(http, "waits", { instruction: "one" })).body.agent_turn_id;
  const second = (await ask(http, "waits", { instruction: "two" })).body.agent_turn_id;
  const turn = async (id: string) => (await http.send("GET", `/projects/demo/turns/${id}`)).body;
  await expect.poll(async () => (await turn(first)).status).toBe("suspended");
  const stopped = await http.send("POST", `/projects/demo/turns/${first}/stop`, { reason: "enough" });
  expect(stopped.body).toEqual({ agent_turn_id: first, stopped: true, status: "failed" });
  expect(await turn(first)).toMatchObject({ status: "failed", error: { code: "stopped", message: "enough" } });
  const { items } = (await http.send("GET", "/projects/demo/calls?status=canceled")).body;
  expect(items).toHaveLength(1);
  await expect.poll(async () => (await turn(second)).status).toBe("suspended");
  const again = await http.send("POST", `/projects/demo/turns/${first}/stop`, {});
  expect(again.body).toMatchObject({ stopped: false, status: "failed" });
});

test("[API-turns] wrong input is one sentence, and writes nothing", async () => {
  await using http = await startHttpStack();
  await using _agents = await startAgents(http);
  const cases: readonly [Promise<{ status: number; body: { error: { message: string } } }>, number][] = [
    [ask(http, "nobody", { instruction: "x" }), 404],
    [ask(http, "echoes", {}), 400],
    [ask(http, "echoes", { instruction: "" }), 400],
    [ask(http, "echoes", { instruction: "x", surprise: 1 }), 400],
    [ask(http, "echoes", { instruction: "x", context_box_id: "none" }), 404],
    [http.send("GET", "/projects/demo/turns/turn_none"), 404],
    [http.send("POST", "/projects/demo/turns/turn_none/stop", {}), 404],
    [http.send("GET", "/projects/demo/turns?status=odd"), 400],
  ];
  for (const [answer, status] of cases) {
    const { status: got, body } = await answer;
    expect.soft(got).toBe(status);
    expect.soft(body.error.message).not.toContain("\n");
  }
  await http.send("POST", "/projects/demo/agents/echoes/deactivate", {});
  expect((await ask(http, "echoes", { instruction: "x" })).status).toBeGreaterThanOrEqual(400);
  expect((await http.send("GET", "/projects/demo/turns")).body.items).toEqual([]);
  const { secret: viewer } = await http.t.engine.tokens.create({ role: "viewer", projectId: "demo" });
  const refused = await http.send(
    "POST",
    "/projects/demo/agents/echoes/turns",
    { instruction: "x" },
    { token: viewer },
  );
  expect(refused.status).toBe(403);
});

test("[API-turns] a turn that is not over says what it waits for and what to do", async () => {
  await using http = await startHttpStack();
  const turn = async (id: string) => (await http.send("GET", `/projects/demo/turns/${id}`)).body;
  const agents = await startAgents(http);
  const first = (await ask(http, "waits", { instruction: "one" })).body.agent_turn_id;
  const second = (await ask(http, "waits", { instruction: "two" })).body.agent_turn_id;
  await expect.poll(async () => (await turn(first)).status).toBe("suspended");
  const { items } = (await http.send("GET", "/projects/demo/calls")).body;
  const callId = items[0]?.tool_call_id;
  expect(await turn(first)).toMatchObject({
    why: `it waits for unsafe (queued, call ${callId})`,
    todo: `toolplane why ${callId}`,
  });
  expect(await turn(second)).toMatchObject({
    why: `agent waits is in turn ${first} (suspended); its turns run one after the other`,
    todo: `toolplane turns show ${first}`,
  });
  await agents[Symbol.asyncDispose]();
  const third = (await ask(http, "echoes", { instruction: "x" })).body.agent_turn_id;
  expect((await turn(third)).why).toMatch(
    /^it waits for a worker of pool crew to take it; .*workers serve the agents of all projects$/,
  );
  await http.send("POST", `/projects/demo/turns/${third}/stop`, {});
  expect(await turn(third)).toMatchObject({ status: "failed", why: null, todo: null });
});

test("[ENG-history-7] a turn that retention has forgotten is not found, and the answer says where its history ended", async () => {
  await using http = await startHttpStack();
  await using _agents = await startAgents(http);
  const { body } = await ask(http, "echoes", { instruction: "hello", wait_seconds: 30 });
  const agentTurnId = String(body.agent_turn_id);
  const verdict = await http.t.engine.history.verify({ projectId: "demo", agentTurnId });
  await expect.poll(() => http.t.engine.retain({ seconds: 0.001 })).toMatchObject({ turns: 1 });
  const gone = await http.send("GET", `/projects/demo/turns/${agentTurnId}`);
  expect(gone).toMatchObject({
    status: 404,
    body: { error: { code: "not_found", detail: { chain_head: verdict?.head, links: verdict?.links } } },
  });
});
