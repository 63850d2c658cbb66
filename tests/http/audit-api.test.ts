import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const tool = (name: string, options: Record<string, unknown> = {}) => ({
  tool_name: name,
  description: name,
  target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.${name}`,
  after_execution: "suspend",
  options,
});

const actsOf = async (http: HttpStack, project = "demo"): Promise<readonly string[]> =>
  (await http.send("GET", `/projects/${project}/audit?limit=500`)).body.items.map(({ act }) => act).reverse();

const settle = async (http: HttpStack, body: Record<string, unknown>): Promise<string> => {
  const token = await http.toolToken();
  const claimed = await http.send("POST", "/projects/demo/tool-services/test/claim", { wait_seconds: 0 }, { token });
  const command = claimed.body.commands[0];
  const id = command?.headers["CG-Tool-Call-Id"] ?? "";
  const path = `/projects/demo/calls/${id}/result`;
  const sent = { lease: command?.lease.id, status: "success", ...body };
  expect((await http.send("POST", path, sent, { token })).status).toBe(200);
  return id;
};

test("[SEC-audit-1] every administrative act is written down with who, what and from which door", async () => {
  await using http = await startHttpStack();
  const call = async (name: string): Promise<string> =>
    (await http.send("POST", "/projects/demo/calls", { tool_name: name })).body.tool_call_id;
  const post = (path: string, body: unknown = {}) => http.send("POST", `/projects/demo/${path}`, body);
  await post("tools", tool("pay", { approval: "required" }));
  await http.send("POST", "/projects/demo/tools", tool("pay", { approval: "never" }), {
    token: await http.toolToken(),
  });
  await post(`calls/${await call("pay")}/approve`);
  await post(`calls/${await call("pay")}/deny`, { reason: "no" });
  await post("tools/pay/accept");
  await post("tools/pay/pause");
  const open = await call("pay");
  await post(`calls/${open}/cancel`);
  await post(`calls/${open}/retry`);
  await post("tools/pay/resume");
  await http.send("DELETE", "/projects/demo/tools/pay");
  await post("profiles", { name: "Helper", worker_target: "worker_generic" });
  await post("agents", { agent_id: "helper", profile_name: "Helper" });
  await post("agents/helper/deactivate");
  await post("agents/helper/activate");
  await post("agents/helper/turns", { instruction: "wait" });
  const turns = (await http.send("GET", "/projects/demo/turns")).body.items;
  await post(`turns/${turns[0]?.agent_turn_id}/stop`);
  await http.send("DELETE", "/projects/demo/profiles/Helper");
  await http.send("PATCH", "/projects/demo", { title: "Renamed" });
  const made = await http.send("POST", "/tokens", { role: "operator", project_id: "demo", label: "Eve" });
  await http.send("DELETE", `/tokens/${made.body.token_id}`);
  expect(await actsOf(http)).toEqual([
    "tool.applied",
    "tool.pending",
    "call.approved",
    "call.denied",
    "tool.accepted",
    "tool.paused",
    "call.canceled",
    "call.retried",
    "tool.resumed",
    "tool.deleted",
    "profile.applied",
    "agent.applied",
    "agent.deactivated",
    "agent.activated",
    "turn.stopped",
    "profile.deleted",
    "project.changed",
    "token.created",
    "token.revoked",
  ]);
  const { items } = (await http.send("GET", "/projects/demo/audit?limit=500")).body;
  expect(items.find(({ act }) => act === "tool.pending")).toMatchObject({
    subject: "pay",
    role: "tool",
    actor: "tool.test",
    door: "http",
    detail: { version: 2, source: "service:test" },
  });
  expect(items.find(({ act }) => act === "token.created")?.detail).toEqual({ role: "operator", label: "Eve" });
  expect(JSON.stringify(items)).not.toContain(made.body.token.split("_")[2]);
});

test("[SEC-audit-1] an act says why, what it weakens and for whom a token speaks; a token in a reason is masked", async () => {
  await using http = await startHttpStack();
  const post = (path: string, body: unknown = {}) => http.send("POST", `/projects/demo/${path}`, body);
  const call = async (): Promise<string> => (await post("calls", { tool_name: "pay" })).body.tool_call_id;
  await post("tools", tool("pay", { approval: "required" }));
  const token = await http.toolToken();
  await http.send("POST", "/projects/demo/tools", tool("pay", { approval: "never" }), { token });
  await post(`calls/${await call()}/approve`, { reason: "within budget" });
  await post(`calls/${await call()}/deny`, { reason: `use ${token} instead` });
  await post(`calls/${await call()}/cancel`, { reason: "wrong account" });
  await post("tools/pay/accept");
  await post("profiles", { name: "Helper", worker_target: "worker_generic" });
  await post("agents", { agent_id: "helper", profile_name: "Helper" });
  await post("agents/helper/turns", { instruction: "wait" });
  const turns = (await http.send("GET", "/projects/demo/turns")).body.items;
  await post(`turns/${turns[0]?.agent_turn_id}/stop`, { reason: "it goes in circles" });
  await http.send("POST", "/tokens", { role: "tool", project_id: "demo", targets: ["test"] });
  const { items } = (await http.send("GET", "/projects/demo/audit?limit=500")).body;
  const detailOf = (name: string) => items.find(({ act }) => act === name)?.detail;
  expect(detailOf("call.approved")).toMatchObject({ reason: "within budget" });
  expect(detailOf("call.denied")).toMatchObject({ reason: `use ${token.slice(0, 15)}_*** instead` });
  expect(detailOf("call.canceled")).toMatchObject({ reason: "wrong account" });
  expect(detailOf("turn.stopped")).toMatchObject({ reason: "it goes in circles" });
  expect(detailOf("tool.accepted")).toMatchObject({ weakens: ["options.approval"] });
  expect(detailOf("token.created")).toMatchObject({ actor: "tool.test" });
});

test("[SEC-audit-4] a result that an administrator gives without a lease is written down; a service's results are not", async () => {
  await using http = await startHttpStack();
  const call = async (): Promise<string> =>
    (await http.send("POST", "/projects/demo/calls", { tool_name: "safe" })).body.tool_call_id;
  const give = async (id: string, sent: object) => http.send("POST", `/projects/demo/calls/${id}/result`, sent);
  // Under a lease, with either token: the work of a service.
  await call();
  await settle(http, { result: 1 });
  await call();
  const claimed = await http.send("POST", "/projects/demo/tool-services/test/claim", { wait_seconds: 0 });
  const [held] = claimed.body.commands;
  await give(held?.headers["CG-Tool-Call-Id"] ?? "", { lease: held?.lease.id, status: "success", result: 1 });
  const single = await call();
  const result = { status: "success", result: "by hand" };
  expect((await give(single, result)).body).toMatchObject({ idempotent: false });
  expect((await give(single, result)).body).toMatchObject({ idempotent: true });
  expect((await give(single, { status: "success", result: "other" })).status).toBe(409);
  const many = await call();
  const results = [{ tool_call_id: many, status: "failed", error: { code: "tool_error", message: "secret" } }];
  await http.send("POST", "/projects/demo/tool-services/test/exchange", { results });
  const about = { act: "call.settled", door: "http", role: "admin" };
  expect((await http.send("GET", "/projects/demo/audit")).body.items).toEqual([
    expect.objectContaining({
      ...about,
      subject: many,
      detail: { tool_name: "safe", status: "failed", as: "tool.test" },
    }),
    expect.objectContaining({
      ...about,
      subject: single,
      detail: { tool_name: "safe", status: "success", as: "tool.test" },
    }),
  ]);
});

test("[SEC-audit-4] a card that an administrator reports without a lease is written down too", async () => {
  await using http = await startHttpStack();
  const made = (await http.send("POST", "/projects/demo/calls", { tool_name: "safe" })).body;
  const { metadata } = (await http.send("GET", `/projects/demo/cards/${made.tool_call_card_id}`)).body;
  const card = {
    card_id: "by-hand",
    project_id: "demo",
    type: "tool.result",
    author_id: "tool.test",
    tool_call_id: made.tool_call_id,
    created_at: "2026-01-02T03:04:05.678Z",
    content: {
      __type__: "ToolResultContent",
      status: "success",
      after_execution: "suspend",
      result: 1,
      error: null,
    },
    metadata: {
      role: "tool",
      agent_turn_id: made.agent_turn_id,
      tool_call_id: made.tool_call_id,
      function_name: "safe",
      step_id: (metadata as { step_id: string }).step_id,
      trace_id: made.trace_id,
    },
  };
  expect((await http.send("POST", "/projects/demo/cards", card)).status).toBe(201);
  const report = { status: "success", after_execution: "suspend", tool_result_card_id: "by-hand" };
  const headers = { "CG-Tool-Call-Id": String(made.tool_call_id) };
  expect((await http.send("POST", "/projects/demo/reports", report, { headers })).status).toBe(200);
  expect(await actsOf(http)).toEqual(["call.settled"]);
});

test("[SEC-audit-2] uses of control keys are written down, stripped ones too; ordinary results are not", async () => {
  await using http = await startHttpStack();
  for (let i = 0; i < 3; i += 1) await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  await settle(http, { result: { ok: true } });
  const used = await settle(http, { result: { __cg_control: { after_execution: "terminate" } } });
  const stripped = await settle(http, { result: {}, control_stripped: ["__cg_control"] });
  expect((await http.send("GET", "/projects/demo/audit")).body.items).toMatchObject([
    { act: "control.stripped", subject: stripped, actor: "tool.test", detail: { keys: ["__cg_control"] } },
    { act: "control.used", subject: used, detail: { tool_name: "safe", after_execution: "terminate" } },
  ]);
});

test("[SEC-audit-3] a project's audit is for its own operators; the plane's for administrators; a deletion stays", async () => {
  await using http = await startHttpStack();
  await http.send("POST", "/projects", { project_id: "other", title: "Other", bootstrap: false });
  const tokenOf = async (role: "operator" | "viewer" | "agent", projectId: string) =>
    (await http.t.engine.tokens.create({ role, projectId })).secret;
  const read = async (path: string, token: string) => (await http.send("GET", path, undefined, { token })).status;
  const mine = await tokenOf("operator", "other");
  expect(await read("/projects/other/audit", mine)).toBe(200);
  expect(await http.send("GET", "/projects/demo/audit", undefined, { token: mine })).toMatchObject({
    status: 403,
    body: {
      error: {
        message: "this token belongs to project other, and demo was asked for",
        detail: { todo: "name project other (on the command line: --project other), or use a token of demo" },
      },
    },
  });
  expect(await read("/audit", mine)).toBe(403);
  for (const role of ["viewer", "agent"] as const)
    expect(await read("/projects/other/audit", await tokenOf(role, "other"))).toBe(403);
  expect(await read("/projects/other/audit", await http.toolToken())).toBe(403);
  await http.send("DELETE", "/projects/other");
  await http.send("POST", "/projects", { project_id: "other", title: "Again", bootstrap: false });
  expect(await actsOf(http, "other")).toEqual(["project.created"]);
  const all = (await http.send("GET", "/audit")).body.items.map(({ act }) => act);
  expect(all).toEqual(["project.created", "project.deleted"]);
  const page = (await http.send("GET", "/audit?limit=1")).body;
  expect((await http.send("GET", `/audit?limit=1&cursor=${page.next_cursor}`)).body.items).toMatchObject([
    { act: "project.deleted", subject: "other", project_id: null },
  ]);
});
