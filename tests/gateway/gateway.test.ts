// The gateway at work: every operation, both doors side by side, where answers go, several processes, and the end.

import { openNatsLink } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { ERROR_TABLE, GATEWAY_OPERATIONS } from "@toolplane/protocol";
import { createNatsGateway } from "@toolplane/server/internal";
import { eventually, fingerprint, startNats, toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type AimedCall,
  callHeaders,
  type GatewayStack,
  gatewayAt,
  resultCard,
  startGatewayStack,
} from "./gateway-stack.ts";
import { aimCalls, hostileCases } from "./hostile-cases.ts";
import { conversation, operationRows, pattern } from "./reference-page.ts";
import { connectWire } from "./wire-client.ts";

let stack: GatewayStack;
beforeAll(async () => {
  stack = await startGatewayStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const commandOf = ({ cardId }: AimedCall) => ({
  tool_call_card_id: cardId,
  tool_name: "safe",
  after_execution: "suspend",
});

test("[DOOR-3-4] a lease names the fields its command lacks", async () => {
  const call = await stack.makeCall("safe");
  const { error } = await stack.ask("lease", { tool_call_card_id: call.cardId }, { call });
  expect(error).toMatchObject({
    code: "protocol_violation",
    message: expect.stringContaining("tool_name, after_execution"),
    detail: { missing: ["tool_name", "after_execution"] },
  });
});

const LEASED = { lease: { id: expect.any(String), expires_at: expect.any(String) }, run_deadline: expect.any(String) };

test("[API-5-1] [UTP-W32-T1] a service without HTTP and without a database leases, reads, stays alive and settles", async () => {
  const { ask, makeCall } = stack;
  const call = await makeCall("safe");
  const command = { ...commandOf(call), holder: "py 7" };
  const leased = await ask("lease", command, { call });
  expect(leased).toMatchObject({ status: 200, body: { ...LEASED, attempt: 1, card: { card_id: call.cardId } } });
  const { lease, subject, headers } = leased.body;
  expect(subject).toMatch(/^cg\.v1r4\.demo\.public\.cmd\.tool\.text\.safe$/);
  expect(headers).toMatchObject(callHeaders(call));
  expect(Math.abs(leased.timestamp - Date.now())).toBeLessThan(60_000);
  expect((await ask("get_card", "", { call })).body).toMatchObject({ card_id: call.cardId, type: "tool.call" });
  expect(await ask("heartbeat", { lease: lease.id }, { call })).toMatchObject({
    status: 200,
    body: { cancel: false, expires_at: expect.any(String) },
  });
  expect(await ask("release", { lease: lease.id }, { call })).toMatchObject({ status: 200, body: { released: true } });
  const again = (await ask("lease", command, { call })).body.lease.id as string;
  const result = { lease: again, status: "success", result: { words: 3 } };
  const settled = await ask("settle", result, { call });
  expect(settled).toMatchObject({ status: 200, body: { status: "success", idempotent: false } });
  // Its answer was lost, and it says it once more.
  expect((await ask("settle", result, { call })).body).toEqual({ ...settled.body, idempotent: true });
  const view = await stack.http.t.engine.calls.get({ projectId: "demo", toolCallId: call.toolCallId });
  expect(view).toMatchObject({ status: "success", settledBy: "tool.text", leaseHolder: "py 7" });
  // So that `why` knows of a service that never asks for work over HTTP.
  expect(stack.http.t.engine.calls.services("demo", "text")).toMatchObject([{ holder: "py 7" }]);
});

test("[UTP-8.7-C7] over NATS too, a call whose result cannot be kept settles as failed", async () => {
  const { ask, takeCall, makeCall } = stack;
  const results = [`${"[".repeat(70)}1${"]".repeat(70)}`, "1e400", '{"a":1,"a":2}', "9007199254740993"];
  for (const result of results) {
    const call = await takeCall("safe");
    const settled = await ask("settle", `{"lease":"${call.lease}","status":"success","result":${result}}`, { call });
    expect(settled, result).toMatchObject({ status: 200, body: { status: "failed" } });
    const view = await stack.http.t.engine.calls.get({ projectId: "demo", toolCallId: call.toolCallId });
    expect(view.errorCode).toBe("result_not_serializable");
  }
  // A lease that cannot be read changes nothing.
  const call = await makeCall("safe");
  const refused = await ask("settle", '{"lease":"a","lease":"b","status":"success"}', { call });
  expect(refused.error).toMatchObject({ code: "bad_request" });
});

test("[API-5-1] the protocol's two steps, and the definitions, by request and reply", async () => {
  const { ask, takeCall } = stack;
  const call = await takeCall("safe");
  const { card, payload } = resultCard(call);
  const headers = { ...callHeaders(call), "CG-Lease": call.lease };
  expect(await ask("put_card", card, { headers })).toMatchObject({ status: 201, body: { card_id: card.card_id } });
  const reported = await ask("report", payload, { headers });
  expect(reported).toMatchObject({ status: 200, body: { tool_result_card_id: card.card_id, idempotent: false } });
  expect((await ask("report", payload, { headers })).body).toEqual({ ...reported.body, idempotent: true });

  expect(await ask("get_tool", { tool_name: "safe" })).toMatchObject({
    status: 200,
    body: { tool_name: "safe", definition_hash: expect.any(String), target_subject: expect.any(String) },
  });
  expect(await ask("get_tool", { tool_name: "safe", version: 1 })).toMatchObject({
    status: 200,
    body: { tool_name: "safe", version: 1, definition_hash: expect.any(String) },
  });
  expect((await ask("get_tool", { tool_name: "safe", version: 2 })).error).toMatchObject({ code: "not_found" });
  const upload = toolUpload({ name: "newborn", target: "text" });
  expect(await ask("register", upload)).toMatchObject({
    status: 201,
    body: { outcome: "created", source: "service:text" },
  });
  expect(await ask("register", upload)).toMatchObject({ status: 200, body: { outcome: "unchanged" } });
});

test("[API-5-1] a lease that is refused says whether to come again", async () => {
  const { ask, makeCall, takeCall, http } = stack;
  const held = await takeCall("safe");
  expect((await ask("lease", commandOf(held), { call: held })).error).toMatchObject({
    code: "lease_lost",
    detail: { status: "running" },
  });
  await http.t.engine.tools.pauseTool("demo", "safe");
  const paused = await makeCall("safe");
  expect((await ask("lease", commandOf(paused), { call: paused })).error).toMatchObject({
    code: "lease_lost",
    detail: { status: "queued" },
  });
  await http.t.engine.tools.resumeTool("demo", "safe");
  expect(await ask("lease", commandOf(paused), { call: paused })).toMatchObject({ status: 200 });
});

test("[API-5-1] [API-exchange-2] an exchange over NATS answers each item as its own operation does", async () => {
  const { ask, takeCall, makeCall } = stack;
  const [done, alive, given, unread] = [
    await takeCall("safe"),
    await takeCall("safe"),
    await takeCall("safe"),
    await takeCall("safe"),
  ];
  const foreign = await makeCall("foreign");
  const said = {
    results: [
      { tool_call_id: done.toolCallId, lease: done.lease, status: "success", result: 1 },
      { tool_call_id: foreign.toolCallId, lease: "guess", status: "success" },
      { tool_call_id: unread.toolCallId, lease: "guess", status: "success" },
      { tool_call_id: unread.toolCallId, lease: unread.lease, status: "success", agent_id: "x" },
      { tool_call_id: "none", status: "success" },
    ],
    heartbeats: [
      { tool_call_id: alive.toolCallId, lease: alive.lease },
      { tool_call_id: alive.toolCallId, lease: "guess" },
    ],
    releases: [{ tool_call_id: given.toolCallId, lease: given.lease }],
    parts: [{ tool_call_id: alive.toolCallId, lease: alive.lease, parts: [{ index: 0, part: 1 }] }, 7],
  };
  const { status, body } = await ask("exchange", said);
  const { results, heartbeats, releases, parts, commands } = body as unknown as Record<
    string,
    readonly { error?: { code: string } }[]
  >;
  const codes = (items: readonly { error?: { code: string } }[] | undefined) =>
    items?.map(({ error }) => error?.code ?? "ok");
  expect(status).toBe(200);
  expect(codes(results)).toEqual(["ok", "auth_failed", "lease_lost", "bad_request", "not_found"]);
  expect(codes(heartbeats)).toEqual(["ok", "lease_lost"]);
  expect([codes(releases), codes(parts), commands]).toEqual([["ok"], ["ok", "bad_request"], []]);
  const at = { headers: { "CG-Channel-Id": "public", "CG-Agent-Id": "somebody" } };
  const { body: lied } = await ask("exchange", { heartbeats: said.heartbeats.slice(0, 1) }, at);
  expect(codes((lied as unknown as typeof body & { heartbeats: [] }).heartbeats)).toEqual(["protocol_violation"]);
});

test("[API-5-3] a plain service reports without a lease, with the few operations it may use", async () => {
  await using legacy = await stack.server.connect("legacy");
  const call = await stack.makeCall("plain");
  const at = (operation: string) => ({ call, client: legacy, subject: gatewayAt(operation, "legacy") });
  expect((await stack.ask("get_card", "", at("get_card"))).body).toMatchObject({ card_id: call.cardId });
  const settled = await stack.ask("settle", { status: "success", result: { ok: true } }, at("settle"));
  expect(settled).toMatchObject({ status: 200, body: { status: "success" } });
});

test("[API-5-5] [DOOR-3-4] [DOOR-9-1] every hostile request gets one typed answer and changes nothing", async () => {
  const cases = hostileCases(await aimCalls(stack));
  const before = await fingerprint(stack.http.t);
  const wrong: string[] = [];
  for (const [what, operation, body, code, as] of cases) {
    const { status, error, timestamp } = await stack.ask(operation, body, as);
    const isTyped = error?.code === code && status === ERROR_TABLE[code].http && error.message !== "";
    if (!isTyped || !(timestamp > 1.7e12)) wrong.push(`${operation} with ${what}: ${status} ${JSON.stringify(error)}`);
  }
  expect(wrong).toEqual([]);
  expect(await fingerprint(stack.http.t)).toBe(before);
});

test("[API-5-7] the reference has a row for every operation, and its conversation is what the gateway says", async () => {
  expect(operationRows()).toEqual([...GATEWAY_OPERATIONS]);
  const { toolCallId, turnId, cardId } = await stack.makeCall("safe");
  const ids: Record<string, string> = { call: toolCallId, turn: turnId, card: cardId };
  const fill = (text: string): string =>
    Object.entries(ids).reduce((filled, [name, id]) => filled.replaceAll(`{${name}}`, id), text);
  const exchanges = conversation();
  expect(exchanges.length).toBe(8);
  for (const { subject, headers, body, status, answer } of exchanges) {
    const said = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]));
    const reply = await stack.ask("", fill(body), { subject, headers: said });
    expect([reply.status, reply.body]).toEqual([status, pattern(answer)]);
    ids.lease ??= reply.body.lease.id as string;
  }
});

test("[API-5-6] both doors give the same answers to the same questions", async () => {
  const { ask, http, takeCall, makeCall } = stack;
  const token = await http.toolToken(["text"]);
  const held = await takeCall("safe");
  const others = await makeCall("foreign");
  const routes = { get_card: "card", heartbeat: "heartbeat", release: "release", settle: "result", parts: "parts" };
  const bodies = [
    { lease: "guess" },
    { lease: 7 },
    { lease: "guess", status: "success", result: 1 },
    { parts: [{ index: 0, part: 1 }] },
    { parts: 1 },
    [],
  ];
  const asked: string[] = [];
  for (const call of [held, others, { ...held, toolCallId: "none" }])
    for (const [operation, verb] of Object.entries(routes))
      for (const body of operation === "get_card" ? [{}] : bodies) {
        const method = operation === "get_card" ? "GET" : "POST";
        const sent = method === "GET" ? undefined : body;
        const there = await http.send(method, `/projects/demo/calls/${call.toolCallId}/${verb}`, sent, { token });
        const here = await ask(operation, body, { call });
        const words = JSON.stringify(there.body).replace("this token", "this user");
        expect([here.status, here.body], `${operation} ${JSON.stringify(body)}`).toEqual([
          there.status,
          JSON.parse(words),
        ]);
        asked.push(operation);
      }
  expect(asked.length).toBe(75);
});

test("[SEC-12-3] in one account an answer goes into the asker's own inbox or nowhere, and a question with another address is not carried out", async () => {
  const { http, takeCall } = stack;
  await using shared = await startNats();
  const link = await openNatsLink({ url: shared.url, name: "test" }, { log: silentLog });
  const gateway = await createNatsGateway({ engine: http.t.engine, link, log: silentLog });
  await using text = await connectWire({ port: shared.port });
  await using watcher = await connectWire({ port: shared.port });
  const call = await takeCall("safe");
  const elsewhere = [
    "cg.v1r4.demo.public.cmd.agent.pool.wakeup",
    "cg.v1r4.demo.public.rpc.gateway.other.settle",
    "cg.v1r4.demo.public.evt.agent.a1.task",
    "$JS.API.STREAM.DELETE.cg_cmd_v1r4",
    "_INBOX_engine.guess.1",
    "_INBOX_other.guess.1",
    "_INBOXES.x",
    "_INBOX_textile.x",
  ];
  const seen = ["cg.v1r4.*.*.cmd.>", "cg.v1r4.*.*.evt.>", "_INBOX_engine.guess.*"].map((at) => watcher.subscribe(at));
  await watcher.flush();
  const before = await fingerprint(http.t);
  for (const reply of elsewhere)
    text.publish(gatewayAt("settle"), JSON.stringify({ lease: call.lease, status: "success", result: {} }), {
      reply,
      headers: callHeaders(call),
    });
  expect(await text.flush()).toEqual([]);
  // The gateway has read the others when it answers this one.
  expect(await stack.ask("heartbeat", { lease: "guess" }, { call, client: text })).toMatchObject({ status: 409 });
  await watcher.flush();
  expect(seen.flat()).toEqual([]);
  expect(await fingerprint(http.t)).toBe(before);
  await gateway.stop();
  await link.close();
});

test("[API-5-1] without an address for the answer parts are passed on, and everything else is left undone", async () => {
  const { text, http, takeCall, ask } = stack;
  const call = await takeCall("safe");
  /** Parts themselves pass through a table on this bus. */
  const kept = async () =>
    (await fingerprint(http.t)).split("\n").filter((line) => !line.startsWith("bus.stream_items"));
  const parts: unknown[] = [];
  const stop = await http.t.engine.bus.subscribeStream("cg.v1r4.demo.*.str.agent.*.part", ({ payload }) => {
    parts.push((JSON.parse(payload) as { part: unknown }).part);
  });
  const before = await kept();
  const headers = callHeaders(call);
  for (const operation of GATEWAY_OPERATIONS)
    text.publish(gatewayAt(operation), JSON.stringify({ lease: call.lease, parts: [{ index: 0, part: operation }] }), {
      headers,
    });
  text.publish(gatewayAt("settle"), JSON.stringify({ lease: call.lease, status: "success", result: {} }), { headers });
  text.publish(gatewayAt("parts"), "{broken", { headers });
  expect(await text.flush()).toEqual([]);
  await eventually(() => parts.length > 0);
  expect(await ask("parts", { lease: call.lease, parts: [{ index: 1, part: "last" }] }, { call })).toMatchObject({
    status: 202,
    body: { accepted: 1 },
  });
  await eventually(() => parts.includes("last"));
  expect(parts).toEqual(["parts", "last"]);
  expect(await kept()).toEqual(before);
  stop();
});

test("[API-5-1] processes share the questions: each is answered once, also while one of them ends", async () => {
  const { text, openGateway } = stack;
  const answers = text.subscribe(`${text.inbox}.many.*`);
  await text.flush();
  const second = await openGateway();
  const send = (from: number, count: number): void => {
    for (let i = from; i < from + count; i += 1)
      text.publish(gatewayAt("get_tool"), JSON.stringify({ tool_name: "safe" }), { reply: `${text.inbox}.many.${i}` });
  };
  send(0, 150);
  await eventually(() => answers.length > 50);
  const stopping = second.stop();
  send(150, 150);
  await stopping;
  await eventually(() => answers.length >= 300);
  await text.flush();
  expect(new Set(answers.map(({ subject }) => subject)).size).toBe(300);
  expect(answers.length).toBe(300);
  expect(answers.every(({ headers }) => headers["CG-Status"] === "200")).toBe(true);
});

test("[SEC-guard-2] over NATS a service cannot weaken what an operator applied, nor bring back what was deleted", async () => {
  const { ask, http } = stack;
  const upload = (options: Record<string, unknown>) => toolUpload({ name: "pay_nats", target: "text", options });
  await http.send("POST", "/projects/demo/tools", upload({ approval: "required" }));
  expect(await ask("register", upload({ approval: "never" }))).toMatchObject({
    status: 202,
    body: { outcome: "pending", pending: { weakens: ["options.approval"] } },
  });
  const shown = await http.send("GET", "/projects/demo/tools/pay_nats");
  expect(shown.body).toMatchObject({ version: 1, options: { approval: "required" } });
  await http.send("DELETE", "/projects/demo/tools/pay_nats");
  expect(await ask("register", upload({}))).toMatchObject({ status: 202, body: { status: "deleted" } });
  expect((await http.send("GET", "/projects/demo/tools/pay_nats")).status).toBe(404);
  const [entry] = (await http.send("GET", "/projects/demo/audit")).body.items;
  expect(entry).toMatchObject({ act: "tool.pending", actor: "tool.text", door: "nats" });
});
