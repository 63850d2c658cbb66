// Profiles, the roster and approvals over HTTP.

import { expect, test } from "vitest";
import { startHttpStack } from "./http-stack.ts";

const profile = `
name: Helper
worker_target: crew
tags: [kind]
system_prompt: You help.
allowed_tools: [safe]
llm_config: { model: script/hello }
`;
const YAML = { headers: { "content-type": "application/yaml" } };

test("[API-profiles] a profile is uploaded, found whatever its case, listed and deleted", async () => {
  await using http = await startHttpStack();
  const made = await http.send("POST", "/projects/demo/profiles", profile, YAML);
  expect(made).toMatchObject({ status: 201, body: { name: "Helper", worker_target: "crew", outcome: "created" } });
  expect(await http.send("POST", "/projects/demo/profiles", profile, YAML)).toMatchObject({
    status: 200,
    body: { outcome: "unchanged", profile_box_id: made.body.profile_box_id },
  });
  const found = await http.send("GET", "/projects/demo/profiles/helper");
  expect(found.body).toMatchObject({
    system_prompt_compiled: "You help.",
    profile: { allowed_tools: ["safe"], llm_config: { model: "script/hello" } },
  });
  expect((await http.send("GET", "/projects/demo/profiles")).body.items).toHaveLength(1);
  expect((await http.send("DELETE", "/projects/demo/profiles/HELPER")).status).toBe(204);
  expect((await http.send("GET", "/projects/demo/profiles/helper")).status).toBe(404);
});

test("[API-profiles] a profile with a key in it, or without a name, is refused with one sentence", async () => {
  await using http = await startHttpStack();
  for (const bad of [
    profile.replace("model: script/hello", "model: m, api_key: sk-secret-value"),
    profile.replace("name: Helper", ""),
  ]) {
    const answer = await http.send("POST", "/projects/demo/profiles", bad, YAML);
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).not.toContain("sk-secret-value");
    expect(answer.body.error.message).not.toContain("\n");
  }
});

test("[API-agents] an agent is made of a profile, listed by pool and tag, deactivated and activated", async () => {
  await using http = await startHttpStack();
  await http.send("POST", "/projects/demo/profiles", profile, YAML);
  const create = () => http.send("POST", "/projects/demo/agents", { agent_id: "ann", profile_name: "helper" });
  expect(await create()).toMatchObject({
    status: 201,
    body: { agent_id: "ann", worker_target: "crew", tags: ["kind"], status: "active", outcome: "created" },
  });
  expect(await create()).toMatchObject({ status: 200, body: { outcome: "updated" } });
  const list = async (query: string) => (await http.send("GET", `/projects/demo/agents?${query}`)).body.items.length;
  expect(await list("worker_target=crew")).toBe(1);
  expect(await list("worker_target=other")).toBe(0);
  expect(await list("tag=kind&status=active")).toBe(1);
  const off = await http.send("POST", "/projects/demo/agents/ann/deactivate", { reason: "on leave" });
  expect(off.body).toMatchObject({ status: "inactive", metadata: { deactivated_reason: "on leave" } });
  expect((await http.send("POST", "/projects/demo/agents/ann/activate", {})).body.status).toBe("active");
  expect((await http.send("GET", "/projects/demo/agents/bob")).status).toBe(404);
  expect((await http.send("POST", "/projects/demo/agents", { agent_id: "x", profile_name: "none" })).status).toBe(404);
  expect((await http.send("POST", "/projects/demo/agents", { agent_id: "a b" })).status).toBe(400);
});

test("[API-approvals] a person sees what waits and decides once; agents and viewers do not decide", async () => {
  await using http = await startHttpStack({ tools: [{ name: "risky", options: { approval: "required" } }] });
  const call = async () =>
    (await http.send("POST", "/projects/demo/calls", { tool_name: "risky", arguments: { n: 1 } })).body.tool_call_id;
  const [yes, no] = [await call(), await call()];
  const listed = await http.send("GET", "/projects/demo/approvals");
  expect(listed.body.items.map(({ tool_call_id }: { tool_call_id: string }) => tool_call_id)).toEqual([yes, no]);
  expect(listed.body.items[0]).toMatchObject({ tool_name: "risky", arguments: { n: 1 }, agent_id: "sys.api" });

  const { secret: agent } = await http.t.engine.tokens.create({ role: "agent", projectId: "demo" });
  const approve = `/projects/demo/calls/${yes}/approve`;
  expect((await http.send("POST", approve, {}, { token: agent })).status).toBe(403);
  expect((await http.send("POST", approve, { by: "ann", reason: "fine" })).body).toMatchObject({
    verdict: "approved",
    by: "ann",
    reason: "fine",
    status: "queued",
    idempotent: false,
  });
  expect((await http.send("POST", approve, { by: "bob" })).body).toMatchObject({ by: "ann", idempotent: true });
  expect((await http.send("POST", `/projects/demo/calls/${yes}/deny`, {})).status).toBe(409);
  expect((await http.send("POST", `/projects/demo/calls/${no}/deny`, { reason: "no" })).body.status).toBe("failed");
  expect((await http.send("GET", `/projects/demo/calls/${no}`)).body).toMatchObject({
    status: "failed",
    error: { code: "approval_denied" },
    approval: { verdict: "denied", reason: "no" },
  });
  expect((await http.send("GET", `/projects/demo/calls/${yes}`)).body).toMatchObject({
    approval: { verdict: "approved", by: "ann", reason: "fine", decided_at: expect.any(String) },
  });
  expect((await http.send("GET", "/projects/demo/approvals")).body.items).toEqual([]);
  expect((await http.send("POST", "/projects/demo/calls/nothing/approve", {})).status).toBe(404);
});
