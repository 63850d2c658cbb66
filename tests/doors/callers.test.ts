// Sections 2.5, 5.5, 6.1, 6.2, 6.5, 8.6 and 8.10 of the protocol with nothing but requests: who asks, in which trace,
// and who may still speak about a call.
// Doors: HTTP

import { fingerprint, letPass } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "../http/http-stack.ts";

let http: HttpStack;
let token: string;
beforeAll(async () => {
  http = await startHttpStack();
  token = await http.toolToken(["test"]);
  await http.send("POST", "/projects/demo/profiles", { name: "Helper", worker_target: "crew" });
  for (const agent_id of ["ann", "bob"])
    await http.send("POST", "/projects/demo/agents", { agent_id, profile_name: "Helper" });
  await http.send("POST", "/projects/demo/agents/bob/deactivate", { reason: "on leave" });
});
afterAll(() => http[Symbol.asyncDispose]());

const TRACE = "0123456789abcdef0123456789abcdef";
const SPAN = "0123456789abcdef";

type Headers = Record<string, string>;
interface Command {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly lease: { readonly id: string };
}

const ask = (body: object, headers: Headers = {}) =>
  http.send("POST", "/projects/demo/calls", { tool_name: "safe", ...body }, { headers });
const serve = (path: string, body: object, headers: Headers = {}) =>
  http.send("POST", `/projects/demo${path}`, body, { token, headers });
const claim = async (wait_seconds = 0): Promise<readonly Command[]> =>
  (await serve("/tool-services/test/claim", { max: 256, wait_seconds })).body.commands as unknown as Command[];
const drain = async (): Promise<void> => {
  for (const { headers, lease } of await claim())
    await serve(`/calls/${headers["CG-Tool-Call-Id"]}/result`, { lease: lease.id, status: "success", result: {} });
};
/** A call as a service gets it. */
const claimOf = async (toolCallId: unknown): Promise<Command> => {
  const found = (await claim(10)).find(({ headers }) => headers["CG-Tool-Call-Id"] === toolCallId);
  if (found === undefined) throw new RangeError("the call was not offered");
  return found;
};

describe("a trace", () => {
  test("[UTP-2.5-1] [UTP-2.5-5] [UTP-2.5-7] [UTP-2.5-10] of the request is the call's: any case in, lower case out", async () => {
    const { body } = await ask({}, { traceparent: `00-${TRACE.toUpperCase()}-${SPAN}-01`, tracestate: "vendor=1" });
    expect(body.trace_id).toBe(TRACE);
    const { headers, payload } = await claimOf(body.tool_call_id);
    expect(headers).toMatchObject({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "vendor=1" });
    const card = (await http.send("GET", `/projects/demo/cards/${payload.tool_call_card_id}`)).body;
    expect(card.metadata).toMatchObject({ trace_id: TRACE });
  });

  test("[UTP-2.5-4] [UTP-2.6-4] is made when there is none, and an empty tracestate is dropped", async () => {
    const { body } = await ask({}, { tracestate: "" });
    const { headers } = await claimOf(body.tool_call_id);
    expect(headers.traceparent).toMatch(new RegExp(`^00-${body.trace_id}-(?!0{16})[0-9a-f]{16}-01$`));
    expect(headers).not.toHaveProperty("tracestate");
  });

  test.each([
    ["an all-zero trace id", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["an all-zero span id", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["version ff", `ff-${TRACE}-${SPAN}-01`],
    ["too few digits", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["no hex", `00-${"x".repeat(32)}-${SPAN}-01`],
    ["something else", "hello"],
  ])("[UTP-2.5-2] [UTP-2.5-1] with %s is refused, and nothing is made", async (_name, traceparent) => {
    const before = await fingerprint(http.t);
    expect((await ask({}, { traceparent })).body.error.code).toBe("protocol_violation");
    const turn = { instruction: "hello" };
    const asked = await http.send("POST", "/projects/demo/agents/ann/turns", turn, { headers: { traceparent } });
    expect(asked.body.error.code).toBe("protocol_violation");
    expect(await fingerprint(http.t)).toBe(before);
  });
});

describe("the caller", () => {
  test.each([
    ["[UTP-6.1-E3] an agent nobody knows", "ghost", "invalid_source_actor"],
    ["[UTP-6.1-E3] an agent that is not active", "bob", "invalid_source_actor"],
    ["[UTP-6.1-E4] no agent", "", "bad_request"],
  ])("%s is refused, and nothing is made", async (_name, agent_id, code) => {
    const before = await fingerprint(http.t);
    expect((await ask({ agent_id })).body.error.code).toBe(code);
    expect(await fingerprint(http.t)).toBe(before);
  });

  test("[UTP-6.1-E1] [UTP-8.10-2] [UTP-8.10-4] an active agent: its ids are minted, its epoch is 0, its card is there", async () => {
    const { status, body } = await ask({ agent_id: "ann" });
    expect(status).toBe(202);
    const { headers, payload } = await claimOf(body.tool_call_id);
    expect(headers).toMatchObject({
      "CG-Project-Id": "demo",
      "CG-Channel-Id": "public",
      "CG-Agent-Id": "ann",
      "CG-Turn-Id": body.agent_turn_id,
      "CG-Turn-Epoch": "0",
      "CG-Recursion-Depth": "0",
      "CG-Tool-Call-Id": body.tool_call_id,
    });
    expect(payload).toEqual({
      tool_call_card_id: body.tool_call_card_id,
      tool_name: "safe",
      after_execution: "suspend",
    });
    const card = (await http.send("GET", `/projects/demo/cards/${body.tool_call_card_id}`)).body;
    expect(card).toMatchObject({ type: "tool.call", author_id: "ann", tool_call_id: body.tool_call_id });
  });

  test("[UTP-2.7-2] [UTP-2.7-3] starts at depth 0 and epoch 0 without parents, and may say so", async () => {
    for (const said of [{}, { "CG-Recursion-Depth": "0", "CG-Turn-Epoch": "0", "CG-Parent-Agent-Id": " " }]) {
      const { body } = await ask({}, said as Headers);
      const command = await claimOf(body.tool_call_id);
      expect(command.headers).toMatchObject({ "CG-Recursion-Depth": "0", "CG-Turn-Epoch": "0" });
      expect(command.headers).not.toHaveProperty("CG-Parent-Agent-Id");
    }
  });

  test("[UTP-8.10-3] hears the outcome within its wait, and without one that the call is not over", async () => {
    const asked = ask({ wait_seconds: 60 });
    const command = (await claim(30))[0];
    if (command === undefined) throw new RangeError("the call was not offered");
    const path = `/calls/${command.headers["CG-Tool-Call-Id"]}/result`;
    await serve(path, { lease: command.lease.id, status: "success", result: { n: 1 } });
    expect(await asked).toMatchObject({
      status: 200,
      body: { status: "success", result: { n: 1 }, tool_result_card_id: expect.stringMatching(/./) },
    });
    const open = await ask({ wait_seconds: 0 });
    expect([open.status, open.body.status]).toEqual([202, "queued"]);
    expect(open.body).not.toHaveProperty("result");
  });

  test("[UTP-8.10-1] [ENG-bad-target] a tool that is not registered is not_found", async () => {
    const before = await fingerprint(http.t);
    expect((await ask({ tool_name: "nothing" })).body.error.code).toBe("not_found");
    expect(await fingerprint(http.t)).toBe(before);
  });

  test("[DOOR-9-1] a payload that is not an object makes no turn, no call and no action", async () => {
    const before = await fingerprint(http.t);
    const paths = ["/agents/ann/turns", "/agents/ann/actions", "/calls", "/reports", "/cards"];
    for (const path of paths)
      for (const body of [[1], "text", 7]) {
        const { status, body: said } = await http.send("POST", `/projects/demo${path}`, body);
        expect([path, body, status, said.error?.code]).toEqual([path, body, 400, "bad_request"]);
      }
    const items = (await http.send("POST", "/projects/demo/calls/batch", [1])).body;
    expect(items.error?.code ?? items.items?.[0]?.error?.code).toBe("bad_request");
    expect(await fingerprint(http.t)).toBe(before);
  });

  test.each([[[1]], ["text"], [7], [true]])("[UTP-5.5-2] arguments %j are bad_request, never wrapped", async (args) => {
    const before = await fingerprint(http.t);
    expect((await ask({ arguments: args })).body.error.code).toBe("bad_request");
    expect(await fingerprint(http.t)).toBe(before);
  });
});

describe("a service", () => {
  test("[UTP-8.6-4] that fell silent is replaced, and its late word is refused", async () => {
    await drain();
    const { body } = await ask({});
    const path = `/calls/${body.tool_call_id}`;
    const silent = await claimOf(body.tool_call_id);
    await letPass(http.t, String(body.tool_call_id), "lease");
    await http.t.engine.expire();
    const next = await claimOf(body.tool_call_id);
    const late = await serve(`${path}/result`, { lease: silent.lease.id, status: "success", result: { late: true } });
    expect(late.body.error.code).toBe("lease_lost");
    expect((await serve(`${path}/result`, { lease: next.lease.id, status: "success", result: {} })).status).toBe(200);
  });

  test("[UTP-6.5-C2] [UTP-6.5-C3] [UTP-1.4-C6] [SEC-3-C13] [UTP-6.2-1] can report no card and no call that is not there", async () => {
    const { body } = await ask({});
    const { headers, lease } = await claimOf(body.tool_call_id);
    const payload = { status: "success", after_execution: "suspend", tool_result_card_id: "nothing" };
    const before = await fingerprint(http.t);
    const said = { ...headers, "CG-Lease": lease.id };
    expect((await serve("/reports", payload, said)).body.error.code).toBe("protocol_violation");
    expect((await serve("/reports", payload, { ...said, "CG-Tool-Call-Id": "nothing" })).status).toBe(404);
    const wrong = [
      { tool_result_card_id: "" },
      { result: {} },
      { status: "fine" },
      { after_execution: "explode" },
      { turn_epoch: 0 },
    ];
    for (const change of wrong) {
      const { error } = (await serve("/reports", { ...payload, ...change }, said)).body;
      expect(["bad_request", "protocol_violation", "invalid_after_execution", "invalid_status"]).toContain(error.code);
    }
    expect(await fingerprint(http.t)).toBe(before);
  });
});
