// The protocol's headers on requests that make calls, turns and actions: they agree with the route, the body, the token and
// what the plane decides, or nothing is made.

import { UI_WORKER_TARGET } from "@toolplane/agents";
import { fingerprint } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack();
  const llm_config = { provider: "script", script: { steps: [{ finish: "done" }] } };
  await http.send("POST", "/projects/demo/profiles", { name: "ann", worker_target: "crew", llm_config });
  await http.send("POST", "/projects/demo/agents", { agent_id: "ann", profile_name: "ann" });
  await http.send("POST", "/projects/demo/profiles", { name: "screen", worker_target: UI_WORKER_TARGET });
  for (const agent_id of ["bob", "cleo"])
    await http.send("POST", "/projects/demo/agents", { agent_id, profile_name: "screen" });
  await http.send("POST", "/projects/demo/tools", {
    tool_name: "click",
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.click",
    after_execution: "suspend",
    options: { ui_allowed: true },
  });
});
afterAll(() => http[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;

/** What the plane mints, counts or knows: a request cannot choose it. */
const CHOSEN: readonly Headers[] = [
  { "CG-Recursion-Depth": "5" },
  { "CG-Step-Id": "step_1" },
  { "CG-Tool-Call-Id": "call_1" },
  { "CG-Parent-Agent-Id": "ann" },
  { "CG-Parent-Turn-Id": "turn_1" },
  { "CG-Parent-Step-Id": "step_1" },
];

/** A person's action names the turn that the person saw; nothing else may. */
const TURN_SAID: readonly Headers[] = [{ "CG-Turn-Epoch": "3" }, { "CG-Turn-Id": "turn_1" }];

/** Wrong in every request, and wrong beside a body that names its channel. */
const WRONG: readonly Headers[] = [
  { "CG-Project-Id": "other" },
  { "CG-Channel-Id": "ops" },
  { "CG-Channel-Id": "no channel" },
  { "CG-Agent-Id": "boss" },
  { "CG-Recursion-Depth": "-1" },
  { "CG-Recursion-Depth": "deep" },
  { "CG-Recursion-Depth": "1.5" },
  { "CG-Recursion-Depth": "" },
  { "CG-Turn-Epoch": "-1" },
  { "CG-Turn-Epoch": "late" },
  { traceparent: "no trace" },
  { traceparent: `00-${"0".repeat(32)}-0123456789abcdef-01` },
  ...CHOSEN,
];

const RIGHT: Headers = {
  "CG-Project-Id": "demo",
  "CG-Channel-Id": "u_1",
  "CG-Recursion-Depth": "0",
  "CG-Turn-Epoch": "0",
};

const CALL = { tool_name: "safe", channel_id: "u_1" };
const TURN = { instruction: "hello", channel_id: "u_1" };
const ACTION = { tool_name: "click", channel_id: "u_1" };

const codeOf = (body: { error?: { code?: string }; items?: readonly { error?: { code?: string } }[] }) =>
  body.error?.code ?? body.items?.[0]?.error?.code;

test.each([
  ["a call", "/projects/demo/calls", CALL, "sys.api"],
  ["a batch", "/projects/demo/calls/batch", [CALL], "sys.api"],
  ["a turn", "/projects/demo/agents/ann/turns", TURN, "sys.api"],
  ["an action", "/projects/demo/agents/bob/actions", ACTION, "bob"],
])("[DOOR-1-6] %s is not made when a header contradicts it or is no such value", async (what, path, body, agent) => {
  const before = await fingerprint(http.t);
  const passed: string[] = [];
  for (const headers of what === "an action" ? WRONG : [...WRONG, ...TURN_SAID]) {
    const answer = await http.send("POST", path, body, { headers: { ...headers } });
    if (codeOf(answer.body) !== "protocol_violation") passed.push(JSON.stringify(headers));
  }
  expect(passed).toEqual([]);
  expect(await fingerprint(http.t)).toBe(before);
  const blank = { "CG-Agent-Id": " ", "CG-Channel-Id": "", "CG-Turn-Epoch": "" };
  for (const headers of [{ ...RIGHT, "CG-Agent-Id": agent }, blank]) {
    // An agent that acts is busy: the second action is another agent's.
    const at = headers === blank ? path.replace("bob", "cleo") : path;
    const { status, body: made } = await http.send("POST", at, body, { headers: { ...headers } });
    expect([status, codeOf(made)]).toEqual([expect.toBeOneOf([200, 202]), undefined]);
  }
});

test.each([
  ["a call", "/projects/demo/calls", { ...CALL, idempotency_key: "used" }],
  ["a batch", "/projects/demo/calls/batch", [{ ...CALL, idempotency_key: "used" }]],
  ["a turn", "/projects/demo/agents/ann/turns", { ...TURN, correlation_id: "used" }],
])("[DOOR-1-6] a key that was used makes no false header of %s true", async (_what, path, body) => {
  const made = async (headers: Headers) => (await http.send("POST", path, body, { headers: { ...headers } })).body;
  const idOf = (answer: Awaited<ReturnType<typeof made>>): unknown =>
    answer.agent_turn_id ?? answer.items?.[0]?.agent_turn_id;
  const first = idOf(await made({}));
  expect(first).toMatch(/./);
  const passed: string[] = [];
  for (const headers of [...WRONG, ...TURN_SAID])
    if (codeOf(await made(headers)) !== "protocol_violation") passed.push(JSON.stringify(headers));
  expect(passed).toEqual([]);
  expect(idOf(await made(RIGHT))).toBe(first);
});

test("[DOOR-1-6] a refusal names the header and the clause", async () => {
  const detailOf = async (headers: Record<string, string>) =>
    (await http.send("POST", "/projects/demo/calls", CALL, { headers })).body.error.detail;
  expect(await detailOf({ "CG-Recursion-Depth": "abc" })).toEqual({ header: "CG-Recursion-Depth", clause: "utp 2.7" });
  expect(await detailOf({ "CG-Recursion-Depth": "7" })).toEqual({ header: "CG-Recursion-Depth", clause: "utp 2.7" });
  expect(await detailOf({ "CG-Turn-Epoch": "x" })).toEqual({ header: "CG-Turn-Epoch", clause: "utp 2.3" });
  expect(await detailOf({ "CG-Turn-Epoch": "1" })).toEqual({ header: "CG-Turn-Epoch", clause: "utp 8.10" });
  expect(await detailOf({ "CG-Turn-Id": "turn_1" })).toEqual({ header: "CG-Turn-Id", clause: "utp 6.3" });
  expect(await detailOf({ traceparent: "junk" })).toEqual({ header: "traceparent", clause: "utp 2.5" });
});

test("[DOOR-1-6] a retry is judged alike", async () => {
  const { body } = await http.send("POST", "/projects/demo/calls", CALL);
  const path = `/projects/demo/calls/${body.tool_call_id}/retry`;
  const before = await fingerprint(http.t);
  for (const headers of [...CHOSEN, ...TURN_SAID, { traceparent: "no trace" }] as Record<string, string>[])
    expect(codeOf((await http.send("POST", path, {}, { headers })).body)).toBe("protocol_violation");
  expect(await fingerprint(http.t)).toBe(before);
  expect((await http.send("POST", path, {}, { headers: { "CG-Recursion-Depth": "0" } })).status).toBe(202);
});

test("[DOOR-1-6] a call in an agent's name may say so in its header; a channel the body leaves out is public", async () => {
  const make = async (body: object, headers: Record<string, string>) =>
    codeOf((await http.send("POST", "/projects/demo/calls", body, { headers })).body);
  const call = { tool_name: "safe", agent_id: "ann" };
  expect(await make({ ...call, channel_id: "ops" }, { "CG-Agent-Id": "ann", "CG-Channel-Id": "ops" })).toBeUndefined();
  expect(await make(call, { "CG-Channel-Id": "public" })).toBeUndefined();
  expect(await make(call, { "CG-Channel-Id": "ops" })).toBe("protocol_violation");
  expect(await make(call, { "CG-Agent-Id": "sys.api" })).toBe("protocol_violation");
  expect(await make(call, { "CG-Channel-Id": "a.b" })).toBe("protocol_violation");
});
