// Tokens of agents that reach for the work of others: refused with one sentence, and nothing changes.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const AGENTS = ["ann", "bob", "carl"] as const;
let http: HttpStack;
const tokens: Record<string, string> = {};
/** Nobody works here: turns stay as they are until somebody stops them. */
const turns: Record<string, string> = {};
let annsCall: string;

const send = (who: string, method: string, path: string, body?: unknown) =>
  http.send(method, `/projects/demo${path}`, body, { token: tokens[who] ?? "" });
const statusOf = async (what: string): Promise<string> => (await send("operator", "GET", what)).body.status;

beforeAll(async () => {
  http = await startHttpStack();
  const { tokens: made } = http.t.engine;
  const create = async (role: "agent" | "operator" | "viewer", actorId?: string): Promise<string> =>
    (await made.create({ role, projectId: "demo", actorId })).secret;
  Object.assign(tokens, {
    operator: await create("operator"),
    viewer: await create("viewer"),
    unbound: await create("agent"),
  });
  const llm_config = { provider: "script", script: { steps: [{ finish: "done" }] } };
  const may = { allowed_tools: ["safe"], delegation_policy: { target_profiles: ["plain"] } };
  await send("operator", "POST", "/profiles", { name: "plain", worker_target: "crew", llm_config, ...may });
  for (const agent of AGENTS) {
    tokens[agent] = await create("agent", agent);
    await send("operator", "POST", "/agents", { agent_id: agent, profile_name: "plain" });
  }
  const ask = async (who: string, agent: string): Promise<string> =>
    (await send(who, "POST", `/agents/${agent}/turns`, { instruction: "x" })).body.agent_turn_id;
  // Each is asked for by an agent that is in no turn: what it asks for in one would descend from whoever started that one.
  turns.carlByBob = await ask("bob", "carl");
  turns.bobByAnn = await ask("ann", "bob");
  turns.annByPeople = await ask("operator", "ann");
  turns.carlByUnbound = await ask("unbound", "carl");
  annsCall = (await send("ann", "POST", "/calls", { tool_name: "safe", arguments: {} })).body.tool_call_id;
});
afterAll(() => http[Symbol.asyncDispose]());

describe("what is another's", () => {
  test.each([
    ["carl", "annByPeople", "GET"],
    ["carl", "bobByAnn", "GET"],
    ["ann", "carlByBob", "GET"],
    ["unbound", "carlByBob", "GET"],
    ["carl", "annByPeople", "stop"],
    ["carl", "bobByAnn", "stop"],
    ["ann", "carlByBob", "stop"],
    ["unbound", "carlByBob", "stop"],
    ["unbound", "bobByAnn", "stop"],
    ["unbound", "annByPeople", "GET"],
    ["unbound", "annByPeople", "stop"],
  ])("[SEC-2-own] %s reaches for turn %s (%s)", async (who, turn, verb) => {
    const path = `/turns/${turns[turn]}`;
    const before = await statusOf(path);
    const answer = verb === "GET" ? await send(who, "GET", path) : await send(who, "POST", `${path}/stop`, {});
    expect([answer.status, answer.body.error.code]).toEqual([403, "auth_failed"]);
    expect(answer.body.error.message).toContain(
      who === "unbound" ? "was not started with it" : `speaks for agent ${who}`,
    );
    expect(await statusOf(path)).toBe(before);
  });

  test("[SEC-2-own] the same correlation of another asker is a turn of its own", async () => {
    const again = (who: string) =>
      send(who, "POST", "/agents/bob/turns", { instruction: "x", correlation_id: turns.bobByAnn, wait_seconds: 0 });
    const answer = await again("carl");
    expect(answer).toMatchObject({ status: 202, body: { idempotent: false } });
    expect(answer.body.agent_turn_id).not.toBe(turns.bobByAnn);
    expect((await again("ann")).body).toMatchObject({ agent_turn_id: turns.bobByAnn, idempotent: true });
  });

  test.each([
    ["GET", ""],
    ["GET", "?wait_seconds=30"],
    ["GET", "/why"],
    ["POST", "/cancel"],
  ])("[SEC-2-own] a call of another agent: %s %s", async (method, rest) => {
    const answer = await send("carl", method, `/calls/${annsCall}${rest}`, method === "POST" ? {} : undefined);
    expect([answer.status, answer.body.error.code]).toEqual([403, "auth_failed"]);
    expect(await statusOf(`/calls/${annsCall}`)).toBe("queued");
  });

  test.each(["/turns?agent_id=ann", "/approvals", "/dead-letters", "/dead-letters/nothing"])(
    "[SEC-2-own] a list of everybody's: %s",
    async (path) => {
      expect((await send("carl", "GET", path)).status).toBe(403);
      expect((await send("viewer", "GET", path)).status).toBe(path.endsWith("nothing") ? 404 : 200);
    },
  );

  test("[SEC-2-own] lists hold one's own", async () => {
    const idsOf = async (
      who: string,
      path: string,
      key: "agent_turn_id" | "tool_call_id",
    ): Promise<readonly string[]> => (await send(who, "GET", path)).body.items.map((item) => item[key]);
    expect(new Set(await idsOf("carl", "/turns", "agent_turn_id"))).toEqual(
      new Set([turns.carlByBob, turns.carlByUnbound]),
    );
    expect(await idsOf("carl", "/calls", "tool_call_id")).toEqual([]);
    expect(await idsOf("ann", "/calls", "tool_call_id")).toEqual([annsCall]);
    expect(await idsOf("viewer", "/turns", "agent_turn_id")).toHaveLength(5);
    // A token that names no agent has what was started with it.
    expect(await idsOf("unbound", "/calls", "tool_call_id")).toEqual([]);
    expect(await idsOf("unbound", "/turns", "agent_turn_id")).toEqual([turns.carlByUnbound]);
    expect((await send("carl", "GET", `/turns?parent_agent_turn_id=${turns.annByPeople}`)).status).toBe(403);
    expect((await send("ann", "GET", `/turns?parent_agent_turn_id=${turns.annByPeople}`)).status).toBe(200);
  });

  test("[SEC-2-own] a token of another project is the agent of none here, whatever its name", async () => {
    const { engine } = http.t;
    await engine.projects.createProject({ project_id: "other", title: "Other", bootstrap: false }, "sys.test");
    const foreign = (await engine.tokens.create({ role: "agent", projectId: "other", actorId: "ann" })).secret;
    tokens.foreign = foreign;
    for (const path of [`/turns/${turns.annByPeople}`, `/calls/${annsCall}`])
      expect((await send("foreign", "GET", path)).status).toBe(403);
    expect(
      (await http.send("GET", `/projects/other/turns/${turns.annByPeople}`, undefined, { token: foreign })).status,
    ).toBe(404);
  });

  test.each(["sys.pmo", "tool.text", "a b"])("[SEC-2-own] no token of an agent speaks for %s", async (actor) => {
    const answer = await http.send("POST", "/tokens", { role: "agent", project_id: "demo", actor });
    expect([answer.status, answer.body.error.code]).toEqual([400, "bad_request"]);
  });
});

describe("what is one's own", () => {
  test.each([
    ["ann", "annByPeople"],
    ["ann", "bobByAnn"],
    ["bob", "bobByAnn"],
    ["carl", "carlByBob"],
    ["bob", "carlByBob"],
    ["unbound", "carlByUnbound"],
    ["viewer", "carlByBob"],
  ])("[SEC-2-own] %s sees turn %s", async (who, turn) => {
    expect((await send(who, "GET", `/turns/${turns[turn]}`)).status).toBe(200);
  });

  test.each([
    ["ann", "bobByAnn"],
    ["unbound", "carlByUnbound"],
    ["operator", "carlByBob"],
  ])("[SEC-2-own] %s stops turn %s", async (who, turn) => {
    expect((await send(who, "POST", `/turns/${turns[turn]}/stop`, {})).body).toMatchObject({ stopped: true });
  });

  test("[SEC-2-own] an agent sees and cancels its call", async () => {
    expect((await send("ann", "GET", `/calls/${annsCall}/why`)).status).toBe(200);
    expect((await send("ann", "POST", `/calls/${annsCall}/cancel`, {})).body).toMatchObject({ canceled: true });
  });
});
