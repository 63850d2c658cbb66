// What a tool service says about itself and cannot prove: a lease that is not the call's, a definition nobody registered;
// and what a caller says twice.

import { toolUpload } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openEvents } from "./event-reader.ts";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

interface Command {
  readonly id: string;
  readonly lease: string;
}

const claimOne = async (http: HttpStack, token: string): Promise<Command> => {
  await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  const { body } = await http.send("POST", "/projects/demo/tool-services/test/claim", { wait_seconds: 0 }, { token });
  const [command] = body.commands;
  return { id: command?.headers["CG-Tool-Call-Id"] ?? "", lease: command?.lease.id ?? "" };
};

test("[SEC-parts] parts are taken from the holder of the lease, and from nobody else", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const held = await claimOne(http, token);
  const parts = async (id: string, lease: string | undefined) => {
    const body = { lease, parts: [{ index: 0, part: { lease: lease ?? null } }] };
    const answer = await http.send("POST", `/projects/demo/calls/${id}/parts`, body, { token });
    return answer.body.error?.code ?? answer.status;
  };
  const events = await openEvents(http, http.admin);
  const other = await claimOne(http, token);
  for (const forged of ["forged", other.lease, undefined]) expect(await parts(held.id, forged)).toBe("lease_lost");
  expect(await parts(held.id, held.lease)).toBe(202);
  const passed = await events.until(`"part":{"lease":"${held.lease}"}`);
  expect(passed.match(/"part":/g)).toHaveLength(1);
  await events.close();
  const give = { lease: held.lease };
  await http.send("POST", `/projects/demo/calls/${held.id}/release`, give, { token });
  expect(await parts(held.id, held.lease)).toBe("lease_lost");
  const done = { lease: other.lease, status: "success", result: 1 };
  await http.send("POST", `/projects/demo/calls/${other.id}/result`, done, { token });
  expect(await parts(other.id, other.lease)).toBe("lease_lost");
});

test("[SEC-parts] another process that did not give the lease knows its holder too", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  const elsewhere = await http.t.another();
  const [leased] = await elsewhere.calls.claim({ projectId: "demo", target: "test", holder: "h", max: 1 });
  const send = async (lease: string) => {
    const path = `/projects/demo/calls/${leased?.facts.toolCallId}/parts`;
    return (await http.send("POST", path, { lease, parts: [{ index: 0, part: 1 }] }, { token })).status;
  };
  expect(await send(leased?.lease.id ?? "")).toBe(202);
  expect(await send("forged")).toBe(409);
});

test("[SEC-definition-hash] a result names a definition of its tool, or the one its call was made under", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const tool = async () => (await http.send("GET", "/projects/demo/tools/safe")).body.definition_hash;
  const unsafe = (await http.send("GET", "/projects/demo/tools/unsafe")).body.definition_hash;
  const first = await tool();
  const storedFor = async (definition_hash: string | undefined) => {
    const { id, lease } = await claimOne(http, token);
    const result = { lease, status: "success", result: 1, definition_hash };
    const { body } = await http.send("POST", `/projects/demo/calls/${id}/result`, result, { token });
    return (await http.send("GET", `/projects/demo/cards/${body.tool_result_card_id}`)).body.metadata.definition_hash;
  };
  expect(await storedFor(first)).toBe(first);
  expect(await storedFor(undefined)).toBe(first);
  for (const wrong of ["f".repeat(64), "anything at all", unsafe, ""]) expect(await storedFor(wrong)).toBe(first);
  await http.send("POST", "/projects/demo/tools", { ...toolUpload({ name: "safe" }), description: "the second" });
  const second = await tool();
  expect(second).not.toBe(first);
  // A service that was not restarted runs the definition it has: that is what its results say.
  expect(await storedFor(first)).toBe(first);
  expect(await storedFor("f".repeat(64))).toBe(second);
});

test("[SEC-definition-hash] a card written in two steps is held to the same", async () => {
  await using http = await startHttpStack();
  const token = await http.toolToken();
  const unsafe = (await http.send("GET", "/projects/demo/tools/unsafe")).body.definition_hash;
  const storedFor = async (definition_hash: string) => {
    const { id, lease } = await claimOne(http, token);
    const headers = { "CG-Lease": lease };
    const call = (await http.send("GET", `/projects/demo/calls/${id}/card`, undefined, { token })).body;
    const { agent_turn_id, step_id, trace_id } = call.metadata;
    const card = {
      card_id: `result-of-${id}`,
      project_id: "demo",
      type: "tool.result",
      author_id: "tool.test",
      created_at: "2026-01-01T00:00:00Z",
      tool_call_id: id,
      metadata: {
        role: "tool",
        agent_turn_id,
        tool_call_id: id,
        function_name: "safe",
        step_id,
        trace_id,
        definition_hash,
      },
      content: { __type__: "ToolResultContent", status: "success", after_execution: "suspend", result: 1, error: null },
    };
    const first = await http.send("POST", "/projects/demo/cards", card, { token, headers });
    expect((await http.send("POST", "/projects/demo/cards", card, { token, headers })).body).toEqual(first.body);
    const stored = await http.send("GET", `/projects/demo/cards/${card.card_id}`);
    return stored.body.metadata.definition_hash;
  };
  const own = (await http.send("GET", "/projects/demo/tools/safe")).body.definition_hash;
  expect(await storedFor(own)).toBe(own);
  for (const wrong of ["f".repeat(64), unsafe]) expect(await storedFor(wrong)).toBe(own);
});

test("[SEC-8-3] [SEC-json-twice] a key that is given twice is refused, so the second cannot pass a fixed parameter", async () => {
  await using http = await startHttpStack({
    tools: [
      {
        name: "pay",
        options: { args: { fixed: { account: "sandbox" } } },
        parameters: { type: "object", properties: { account: { type: "string" }, note: { type: "string" } } },
      },
    ],
  });
  const calls = "/projects/demo/calls";
  const twice = [
    '{"tool_name":"pay","arguments":{"account":"sandbox","account":"real"}}',
    String.raw`{"tool_name":"pay","arguments":{"account":"a:b","acc\u006funt":"real"}}`,
    '{"tool_name":"pay","tool_name":"other"}',
    `{"tool_name":"pay","arguments":{"account":"x","note":"${"n".repeat(200_000)}","account":"real"}}`,
  ];
  for (const body of twice) {
    const { status, body: said } = await http.send("POST", calls, body);
    expect([status, said.error?.message]).toEqual([400, "the body names a member of an object twice: send it once"]);
  }
  expect((await http.send("GET", calls)).body.items).toEqual([]);
  // Arguments as a model's own text: of two values the last counts, and the fixed one stands over both.
  const token = await http.toolToken();
  for (const body of [
    '{"tool_name":"pay","arguments":{"account":"real","note":"a: b"}}',
    String.raw`{"tool_name":"pay","arguments":"{\"account\":\"x\",\"note\":\"\",\"note\":\"a: b\",\"account\":\"real\"}"}`,
  ]) {
    const made = await http.send("POST", calls, body);
    await http.send("POST", "/projects/demo/tool-services/test/claim", { wait_seconds: 0 }, { token });
    const card = await http.send("GET", `${calls}/${made.body.tool_call_id}/card`, undefined, { token });
    expect(card.body.content.arguments).toEqual({ account: "sandbox", note: "a: b" });
  }
});

test("[SEC-parts] a plain service shows no parts of a call that may not run yet, or has settled", async () => {
  await using http = await startHttpStack({
    tools: [
      { name: "asked", options: { service: "plain", approval: "required" } },
      { name: "plain", options: { service: "plain" } },
    ],
  });
  const token = await http.toolToken();
  const make = async (tool_name: string) =>
    (await http.send("POST", "/projects/demo/calls", { tool_name })).body.tool_call_id;
  const parts = async (id: string) => {
    const answer = await http.send(
      "POST",
      `/projects/demo/calls/${id}/parts`,
      { parts: [{ index: 0, part: 1 }] },
      { token },
    );
    return answer.body.error?.code ?? answer.status;
  };
  expect(await parts(await make("asked"))).toBe("conflict");
  const open = await make("plain");
  expect(await parts(open)).toBe(202);
  const ended = await make("plain");
  await http.send("POST", `/projects/demo/calls/${ended}/result`, { status: "success", result: 1 }, { token });
  expect(await parts(ended)).toBe("already_settled");
});
