// Agents as an MCP tool: offered only where the address names them, run once for one key.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createFunctionBrain, createWorker } from "@toolplane/agents";
import { expect, test } from "vitest";
import { echo, startMcpStack } from "./mcp-stack.ts";

const POOL = "pool";

test("an agent that the address names is a tool; its deliverable is the result, and a key is one turn", async () => {
  await using stack = await startMcpStack([echo]);
  const { engine, projectId } = stack.http.t;
  await engine.profiles.upsertProfile(projectId, { name: "p", worker_target: POOL, allowed_tools: ["echo"] });
  for (const agent_id of ["helper", "other"])
    await engine.agents.upsertAgent(projectId, { agent_id, profile_name: "p" });
  let thoughts = 0;
  const brain = createFunctionBrain(() => {
    thoughts += 1;
    return { text: "it is done" };
  });
  const worker = createWorker({ engine, brains: async () => brain, workerTargets: [POOL] });
  await worker.start();
  const connect = async (query: string, token = stack.http.admin) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${stack.url}${query}`), { requestInit }));
    return client;
  };
  const plain = await connect("");
  expect((await plain.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
  await expect(plain.callTool({ name: "run_agent", arguments: {} })).rejects.toThrow(/run_agent/);
  const client = await connect("?agents=helper");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["run_agent", "echo"]);
  const ask = {
    name: "run_agent",
    arguments: { agent: "helper", instruction: "do it" },
    _meta: { "toolplane/idempotency_key": "once" },
  };
  const first = await client.callTool(ask);
  expect(first).toMatchObject({ content: [{ type: "text", text: "it is done" }] });
  expect((await client.callTool(ask))._meta).toEqual(first._meta);
  expect(thoughts).toBe(1);
  const wrong = await client.callTool({ name: "run_agent", arguments: { agent: "other", instruction: "x" } });
  expect(wrong).toMatchObject({ isError: true });
  // An agent starts turns of another only as far as its profile lets it delegate.
  const { secret } = await engine.tokens.create({ role: "agent", projectId, actorId: "other" });
  const agent = await connect("?agents=helper", secret);
  const refused = await agent.callTool({ name: "run_agent", arguments: { agent: "helper", instruction: "x" } });
  expect(JSON.stringify(refused.content)).toContain("may not start a turn of helper");
  await Promise.all([plain.close(), client.close(), agent.close()]);
  await worker.stop({ drainMs: 0 });
});
