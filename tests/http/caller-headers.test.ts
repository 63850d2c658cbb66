// The protocol's headers on requests that make calls and turns: they agree with the route, the body and the token, or nothing is
// made.

import { fingerprint } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack();
  const llm_config = { provider: "script", script: { steps: [{ finish: "done" }] } };
  await http.send("POST", "/projects/demo/profiles", { name: "ann", worker_target: "crew", llm_config });
  await http.send("POST", "/projects/demo/agents", { agent_id: "ann", profile_name: "ann" });
});
afterAll(() => http[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;

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
];

const RIGHT: Headers = {
  "CG-Project-Id": "demo",
  "CG-Channel-Id": "u_1",
  "CG-Agent-Id": "sys.api",
  "CG-Recursion-Depth": "0",
  "CG-Turn-Epoch": "0",
};

const CALL = { tool_name: "safe", channel_id: "u_1" };
const TURN = { instruction: "hello", channel_id: "u_1" };

const codeOf = (body: { error?: { code?: string }; items?: readonly { error?: { code?: string } }[] }) =>
  body.error?.code ?? body.items?.[0]?.error?.code;

test.each([
  ["a call", "/projects/demo/calls", CALL],
  ["a batch", "/projects/demo/calls/batch", [CALL]],
  ["a turn", "/projects/demo/agents/ann/turns", TURN],
])("[DOOR-1-6] %s is not made when a header contradicts the request or is no such value", async (_, path, body) => {
  const before = await fingerprint(http.t);
  const passed: string[] = [];
  for (const headers of WRONG) {
    const answer = await http.send("POST", path, body, { headers: { ...headers } });
    if (codeOf(answer.body) !== "protocol_violation") passed.push(JSON.stringify(headers));
  }
  expect(passed).toEqual([]);
  expect(await fingerprint(http.t)).toBe(before);
  const blank = { "CG-Agent-Id": " ", "CG-Channel-Id": "", "CG-Turn-Epoch": "" };
  for (const headers of [RIGHT, blank]) {
    const { status, body: made } = await http.send("POST", path, body, { headers: { ...headers } });
    expect([status, codeOf(made)]).toEqual([expect.toBeOneOf([200, 202]), undefined]);
  }
});

test("[DOOR-1-6] a call in an agent's name may say so in its header; a channel the body leaves out is only read", async () => {
  const make = async (body: object, headers: Record<string, string>) =>
    codeOf((await http.send("POST", "/projects/demo/calls", body, { headers })).body);
  const call = { tool_name: "safe", agent_id: "ann" };
  expect(await make(call, { "CG-Agent-Id": "ann", "CG-Channel-Id": "ops" })).toBeUndefined();
  expect(await make(call, { "CG-Agent-Id": "sys.api" })).toBe("protocol_violation");
  expect(await make(call, { "CG-Channel-Id": "a.b" })).toBe("protocol_violation");
});
