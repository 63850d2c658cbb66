import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const claimOne = async (http: HttpStack, token: string) => {
  const { body } = await http.send(
    "POST",
    `/projects/demo/tool-services/test/claim`,
    { max: 1, wait_seconds: 5 },
    { token },
  );
  const [command] = body.commands;
  if (command === undefined) throw new RangeError("there was nothing to claim");
  return command;
};

const callIdOf = (command: { headers: Record<string, string> }): string => command.headers["CG-Tool-Call-Id"] ?? "";

test("[API-calls-walk] a call is made, claimed, read, settled and answered, over HTTP alone", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const waiting = http.send("POST", "/projects/demo/calls", {
    tool_name: "safe",
    arguments: { text: "hi" },
    wait_seconds: 30,
  });
  const command = await claimOne(http, token);
  expect(command.subject).toBe("cg.v1r4.demo.public.cmd.tool.test.safe");
  expect(Object.keys(command.payload).sort()).toEqual(["after_execution", "tool_call_card_id", "tool_name"]);
  const id = callIdOf(command);
  const card = await http.send("GET", `/projects/demo/calls/${id}/card`, undefined, { token });
  expect(card.body.content.arguments).toEqual({ text: "hi" });
  const beat = await http.send("POST", `/projects/demo/calls/${id}/heartbeat`, { lease: command.lease.id }, { token });
  expect(beat.body).toMatchObject({ cancel: false });
  const result = { lease: command.lease.id, status: "success", result: { words: 1 } };
  const settled = await http.send("POST", `/projects/demo/calls/${id}/result`, result, { token });
  expect(settled.body).toMatchObject({ idempotent: false, status: "success" });
  expect((await http.send("POST", `/projects/demo/calls/${id}/result`, result, { token })).body).toMatchObject({
    idempotent: true,
    tool_result_card_id: settled.body.tool_result_card_id,
  });
  const answer = await waiting;
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    tool_call_id: id,
    status: "success",
    after_execution: "suspend",
    result: { words: 1 },
  });
  expect(answer.body.trace_id).toMatch(/^[0-9a-f]{32}$/);
});

test("[API-two-steps] the protocol's own two steps work over HTTP: write the card, report it", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  const command = await claimOne(http, token);
  const id = callIdOf(command);
  const call = (await http.send("GET", `/projects/demo/calls/${id}/card`, undefined, { token })).body;
  const { step_id, trace_id } = call.metadata;
  const card = {
    card_id: "result-1",
    project_id: "demo",
    type: "tool.result",
    author_id: "tool.test",
    created_at: "2026-01-01T00:00:00Z",
    tool_call_id: id,
    metadata: {
      role: "tool",
      agent_turn_id: call.metadata.agent_turn_id,
      tool_call_id: id,
      function_name: "safe",
      step_id,
      trace_id,
    },
    content: {
      __type__: "ToolResultContent",
      status: "success",
      after_execution: "suspend",
      result: [1, 2],
      error: null,
    },
  };
  const under = { "CG-Lease": command.lease.id };
  expect((await http.send("POST", "/projects/demo/cards", card, { token, headers: under })).status).toBe(201);
  const report = { status: "success", after_execution: "suspend", tool_result_card_id: "result-1" };
  const noCall = await http.send("POST", "/projects/demo/reports", report, { token });
  expect(noCall.body.error.code).toBe("protocol_violation");
  const headers = { "CG-Tool-Call-Id": id, "CG-Turn-Id": call.metadata.agent_turn_id, "CG-Lease": command.lease.id };
  const inline = await http.send("POST", "/projects/demo/reports", { ...report, result: [1, 2] }, { token, headers });
  expect(inline.body.error.code).toBe("protocol_violation");
  expect((await http.send("POST", "/projects/demo/reports", report, { token, headers })).body).toMatchObject({
    idempotent: false,
  });
  expect((await http.send("GET", `/projects/demo/calls/${id}`)).body).toMatchObject({
    status: "success",
    result: [1, 2],
  });
});

test("[API-idempotency-http] the Idempotency-Key header and the body's key are the same thing", async () => {
  await using http = await startHttpStack();
  const send = (body: object, headers = {}) =>
    http.send("POST", "/projects/demo/calls", { tool_name: "safe", ...body }, { headers });
  const first = await send({ arguments: { a: 1 }, idempotency_key: "k" });
  const again = await send({ arguments: { a: 1 } }, { "Idempotency-Key": "k" });
  expect(again.body.tool_call_id).toBe(first.body.tool_call_id);
  const other = await send({ arguments: { a: 2 } }, { "Idempotency-Key": "k" });
  expect([other.status, other.body.error.code]).toEqual([409, "idempotency_conflict"]);
  expect((await send({ idempotency_key: "x" }, { "Idempotency-Key": "y" })).status).toBe(400);
});

test("[API-batch] a batch answers per item: one bad item fails alone", async () => {
  await using http = await startHttpStack();
  const items = Array.from({ length: 10 }, (_, i) => ({ tool_name: i === 4 ? "nothing" : "safe", arguments: { i } }));
  const { status, body } = await http.send("POST", "/projects/demo/calls/batch", items);
  expect(status).toBe(200);
  expect(body.items.filter((item: { status?: string }) => item.status === "queued")).toHaveLength(9);
  expect(body.items[4]?.error.code).toBe("not_found");
});

test("[API-cancel-retry] cancel ends a call, retry makes a new one with the same arguments", async () => {
  await using http = await startHttpStack();
  const made = (await http.send("POST", "/projects/demo/calls", { tool_name: "unsafe", arguments: { n: 3 } })).body;
  const canceled = await http.send("POST", `/projects/demo/calls/${made.tool_call_id}/cancel`, { reason: "wrong" });
  expect(canceled.body).toEqual({ canceled: true, status: "canceled" });
  const retried = await http.send("POST", `/projects/demo/calls/${made.tool_call_id}/retry`);
  expect(retried.status).toBe(202);
  expect(retried.body.tool_call_id).not.toBe(made.tool_call_id);
  expect(retried.body).toMatchObject({ retry_of: made.tool_call_id });
  expect((await http.send("GET", `/projects/demo/calls/${retried.body.tool_call_id}`)).body).toMatchObject({
    retry_of: made.tool_call_id,
  });
});

test("[API-why] why says in one sentence where a call is and what to do", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const made = (await http.send("POST", "/projects/demo/calls", { tool_name: "safe" })).body;
  const why = async () => (await http.send("GET", `/projects/demo/calls/${made.tool_call_id}/why`)).body;
  expect(await why()).toMatchObject({ status: "queued", todo: "start a service for target test" });
  await http.t.engine.tools.pauseTool("demo", "safe");
  expect((await why()).why).toContain("paused");
  await http.t.engine.tools.resumeTool("demo", "safe");
  const command = await claimOne(http, token);
  expect((await why()).why).toMatch(/^tool\.test \([0-9a-f]+\) runs it, with a lease until/);
  await http.send(
    "POST",
    `/projects/demo/calls/${callIdOf(command)}/result`,
    { lease: command.lease.id, status: "failed", error: "no" },
    { token },
  );
  expect((await why()).why).toContain("with tool_error: ");
});

test("[API-lists] calls are listed newest first, in pages, by status and tool", async () => {
  await using http = await startHttpStack();
  for (let i = 0; i < 5; i++)
    await http.send("POST", "/projects/demo/calls", { tool_name: i < 3 ? "safe" : "unsafe", arguments: { i } });
  const page = (await http.send("GET", "/projects/demo/calls?limit=2")).body;
  expect(page.items).toHaveLength(2);
  const next = (await http.send("GET", `/projects/demo/calls?limit=2&cursor=${page.next_cursor}`)).body;
  const seen = [...page.items, ...next.items].map(({ tool_call_id }: { tool_call_id: string }) => tool_call_id);
  expect(seen).toEqual([...seen].sort().reverse());
  expect((await http.send("GET", "/projects/demo/calls?tool_name=unsafe")).body.items).toHaveLength(2);
  expect((await http.send("GET", "/projects/demo/calls?status=success")).body.items).toEqual([]);
});
