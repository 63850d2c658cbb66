// Why a tool failed: told with its result, seen by operators, in no card.

import { HEADERS } from "@toolplane/protocol";
import { meddle } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const SAID = { name: "TypeError", message: "x is undefined", stack: "TypeError: x is undefined\n    at tool.ts:7:3" };
const FAILED = { status: "failed", error: { code: "internal_error", message: "x is undefined" } };

/** A call that this service holds. */
const hold = async (http: HttpStack, token: string): Promise<{ id: string; lease: string }> => {
  await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  const { body } = await http.send("POST", "/projects/demo/tool-services/test/claim", { max: 1 }, { token });
  const [command] = body.commands;
  return { id: command?.headers[HEADERS.toolCallId] ?? "", lease: command?.lease.id ?? "" };
};

const settle = (http: HttpStack, token: string, held: { id: string; lease: string }, more: object) =>
  http.send("POST", `/projects/demo/calls/${held.id}/result`, { lease: held.lease, ...FAILED, ...more }, { token });

const show = async (http: HttpStack, id: string, token = http.admin) =>
  (await http.send("GET", `/projects/demo/calls/${id}`, undefined, { token })).body;

test("[API-diagnostics-1] [API-diagnostics-2] an operator sees them, nobody else does, and no card has them", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const held = await hold(http, token);
  expect((await settle(http, token, held, { diagnostics: SAID })).status).toBe(200);
  const { tokens } = http.t.engine;
  const operator = await tokens.create({ role: "operator", projectId: "demo" });
  const viewer = await tokens.create({ role: "viewer", projectId: "demo" });
  const call = await show(http, held.id);
  expect(call.diagnostics).toEqual(SAID);
  expect((await show(http, held.id, operator.secret)).diagnostics).toEqual(SAID);
  expect(await show(http, held.id, viewer.secret)).toMatchObject({ status: "failed", error: FAILED.error });
  expect(JSON.stringify(await show(http, held.id, viewer.secret))).not.toContain("tool.ts");
  expect(JSON.stringify((await http.send("GET", "/projects/demo/calls")).body)).not.toContain("tool.ts");
  const card = await http.send("GET", `/projects/demo/cards/${call.tool_result_card_id}`);
  expect(card.status).toBe(200);
  expect(JSON.stringify(card.body)).not.toContain("tool.ts");
});

test("[API-diagnostics-1] those of an exchange are kept as well, and a result without them has none", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const [first, second] = [await hold(http, token), await hold(http, token)];
  const results = [
    { tool_call_id: first.id, lease: first.lease, ...FAILED, diagnostics: { message: "only this" } },
    { tool_call_id: second.id, lease: second.lease, ...FAILED },
  ];
  await http.send("POST", "/projects/demo/tool-services/test/exchange", { results }, { token });
  expect((await show(http, first.id)).diagnostics).toEqual({ name: "", message: "only this", stack: "" });
  expect(await show(http, second.id)).not.toHaveProperty("diagnostics");
});

test("[API-diagnostics-3] long ones and those that no database can store are cut, and the result counts", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const held = await hold(http, token);
  const said = { name: "n\0\ud800", message: "m".repeat(100_000), stack: "s".repeat(100_000) };
  expect((await settle(http, token, held, { diagnostics: said })).status).toBe(200);
  const { diagnostics } = await show(http, held.id);
  expect(diagnostics).toEqual({ name: "n\ufffd\ufffd", message: "m".repeat(2_000), stack: "s".repeat(16_000) });
});

/** The id that a call has after its settlement was put back in time. */
const old = (id: string): string => `000${id.slice(3)}`;

test("[API-diagnostics-4] a result that comes too late brings none, and they are forgotten with their call", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const held = await hold(http, token);
  await settle(http, token, held, { diagnostics: SAID });
  const again = await settle(http, token, held, { diagnostics: { ...SAID, message: "another" }, result: { x: 1 } });
  expect(again.body.error?.code).toBe("already_settled");
  expect((await show(http, held.id)).diagnostics).toEqual(SAID);
  const { engine, projectId } = http.t;
  await meddle(http.t, "ageSettledCalls");
  expect(await engine.calls.diagnostics({ projectId, toolCallId: old(held.id) })).toEqual(SAID);
  expect(await engine.retain({ seconds: 30 * 86_400 })).toMatchObject({ calls: 1 });
  expect(await engine.calls.diagnostics({ projectId, toolCallId: old(held.id) })).toBeUndefined();
});
