// After a flood: an operator ends the calls that wait, many at once.

import { toolUpload } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { startHttpStack } from "./http-stack.ts";

const PATH = "/projects/demo/calls/cancel";
const PAGE = 20;

const statusesOf = async (http: Awaited<ReturnType<typeof startHttpStack>>) => {
  const count = async (status: string) => (await http.t.engine.calls.list("demo", { status })).length;
  return {
    queued: await count("queued"),
    running: await count("running"),
    waiting: await count("awaiting_approval"),
  };
};

test("[LIM-plane-2] waiting calls are canceled page by page; running ones, others of the filter and later ones stay", async () => {
  await using http = await startHttpStack();
  const { engine } = http.t;
  await engine.tools.upsertTool("demo", toolUpload({ name: "asks", options: { approval: { policy: "required" } } }));
  const make = (toolName: string, agentId = "sys.anna") =>
    engine.calls.dispatch({ projectId: "demo", toolName, arguments: {}, agentId });
  await make("safe");
  const [running] = await engine.calls.claim({ projectId: "demo", target: "test", holder: "h", max: 1 }, 5_000);
  const flood = await Promise.all(Array.from({ length: PAGE + 5 }, () => make("safe", "sys.flood")));
  await make("asks", "sys.flood");
  await make("safe");
  const ask = async (body: object) => (await http.send("POST", PATH, body)).body;
  const first = await ask({ agent_id: "sys.flood", reason: "a flood", limit: PAGE });
  expect(first).toEqual({ canceled: PAGE, next_cursor: expect.any(String) });
  // Made after the first page: the pages end although calls go on coming.
  await make("safe", "sys.flood");
  const second = await ask({ agent_id: "sys.flood", reason: "a flood", limit: PAGE, cursor: first.next_cursor });
  expect(second).toEqual({ canceled: 6, next_cursor: null });
  expect(await statusesOf(http)).toEqual({ queued: 2, running: 1, waiting: 0 });
  expect((await engine.calls.get({ projectId: "demo", toolCallId: running?.facts.toolCallId ?? "" })).status).toBe(
    "running",
  );
  const { body: audit } = await http.send("GET", "/projects/demo/audit?limit=1");
  expect(audit.items[0]).toMatchObject({ act: "call.canceled", detail: { reason: "a flood" } });
  const told = (await http.send("GET", `/projects/demo/calls/${flood[0]?.toolCallId}`)).body;
  expect(told).toMatchObject({ status: "canceled", error: { code: "canceled", message: "a flood" } });
  expect(await ask({ target: "nothing" })).toEqual({ canceled: 0, next_cursor: null });
  expect(await ask({})).toEqual({ canceled: 2, next_cursor: null });
});

test("[LIM-plane-2] operators only, in a project that exists, with a cursor of this request", async () => {
  await using http = await startHttpStack();
  const agent = (await http.t.engine.tokens.create({ role: "agent", projectId: "demo" })).secret;
  expect((await http.send("POST", PATH, {}, { token: agent })).status).toBe(403);
  expect((await http.send("POST", "/projects/nothing/calls/cancel", {})).status).toBe(404);
  for (const cursor of ["x", Buffer.from("1").toString("base64url"), Buffer.from("a b").toString("base64url")])
    expect((await http.send("POST", PATH, { cursor })).status).toBe(400);
});
