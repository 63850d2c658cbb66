// What a service says about whose call it is: at every door it agrees with the call, or the request is refused and has changed
// nothing. What is left out is not judged.
// Doors: HTTP, NATS, in process

import { type CallFacts, systemClock } from "@toolplane/engine";
import {
  buildResult,
  type CallbackPayload,
  type CGContext,
  createContext,
  HEADERS,
  type HeaderMap,
  isToolplaneError,
} from "@toolplane/protocol";
import { createEngineGateway } from "@toolplane/server/internal";
import { fingerprint } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addAgent, call, commit, takeTurn } from "../turns/turn-world.ts";
import { type GatewayStack, gatewayAt, startGatewayStack } from "./gateway-stack.ts";

let stack: GatewayStack;
let token: string;
beforeAll(async () => {
  stack = await startGatewayStack();
  token = await stack.http.toolToken(["text", "legacy"]);
  await addAgent(stack.http.t, "asker");
  await addAgent(stack.http.t, "helper");
});
afterAll(() => stack[Symbol.asyncDispose]());

interface Reportable {
  readonly facts: CallFacts;
  readonly lease: string;
  readonly payload: CallbackPayload;
}

/** A leased call whose result card is written. */
const prepare = async ({ facts, lease }: { facts: CallFacts; lease: { id: string } }): Promise<Reportable> => {
  const { card, payload } = buildResult(
    {
      cardId: `result-${facts.toolCallId}`,
      createdAt: "2026-01-01T00:00:00.000Z",
      projectId: facts.projectId,
      agentTurnId: facts.agentTurnId,
      toolCallId: facts.toolCallId,
      authorId: facts.actorId,
      toolName: facts.toolName,
      afterExecution: facts.afterExecution,
      toolCallMetadata: { ...facts.lineage },
    },
    { status: "success", result: { ok: true } },
  );
  const { projectId, actorId } = facts;
  await stack.http.t.engine.calls.putResultCard({ projectId, actorId, leaseId: lease.id, card });
  return { facts, lease: lease.id, payload };
};

const claimText = async () => {
  const { engine, projectId } = stack.http.t;
  const [leased] = await engine.calls.claim({ projectId, target: "text", holder: "h", max: 1 });
  if (leased === undefined) throw new RangeError("there was no call");
  return leased;
};

const directCall = async (): Promise<Reportable> => {
  await stack.makeCall("safe");
  return prepare(await claimText());
};

/** In a turn that another agent asked for, so its epoch and its depth are not 0. */
const agentCall = async (): Promise<Reportable> => {
  const { t } = stack.http;
  const agentId = `agent_${++agents}`;
  await addAgent(t, agentId);
  asking ??= takeTurn(t, { agentId: "asker" });
  const lineage = { agentId: "asker", agentTurnId: (await asking).agentTurnId };
  const work = await takeTurn(t, { agentId, lineage });
  await commit(t, work, call("safe"));
  return prepare(await claimText());
};
let agents = 0;
let asking: ReturnType<typeof takeTurn> | undefined;

type Send = (call: Reportable, headers: HeaderMap) => Promise<string>;

const leased = ({ lease }: Reportable, headers: HeaderMap): HeaderMap => ({ ...headers, "CG-Lease": lease });

const overHttp: Send = async (call, headers) => {
  const answer = await stack.http.send("POST", "/projects/demo/reports", call.payload, {
    token,
    headers: leased(call, headers),
  });
  return answer.body.error?.code ?? answer.body.status;
};

const overNats: Send = async (call, headers) => {
  const answer = await stack.ask("report", call.payload, { headers: leased(call, headers) });
  return answer.error?.code ?? answer.body.status;
};

const inProcess: Send = async (call, headers) => {
  const { facts, lease: leaseId, payload } = call;
  const { projectId, toolCallId, actorId } = facts;
  try {
    return (await stack.http.t.engine.calls.report({ projectId, toolCallId, actorId, leaseId, payload, headers }))
      .status;
  } catch (error) {
    if (isToolplaneError(error)) return error.code;
    throw error;
  }
};

const DOORS: readonly (readonly [string, Send])[] = [
  ["HTTP", overHttp],
  ["NATS", overNats],
  ["the process itself", inProcess],
];
const CALLS: readonly (readonly [string, () => Promise<Reportable>])[] = [
  ["a direct call", directCall],
  ["an agent's call", agentCall],
];

const OTHER_TRACE = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const WRONG: readonly (readonly [string, HeaderMap])[] = [
  ["another epoch", { [HEADERS.turnEpoch]: "7" }],
  ["an epoch that is not a number", { [HEADERS.turnEpoch]: "one" }],
  ["a negative epoch", { [HEADERS.turnEpoch]: "-1" }],
  ["another depth", { [HEADERS.recursionDepth]: "11" }],
  ["a negative depth", { [HEADERS.recursionDepth]: "-1" }],
  ["a depth that is not a number", { [HEADERS.recursionDepth]: "abc" }],
  ["another agent", { [HEADERS.agentId]: "boss" }],
  ["another project", { [HEADERS.projectId]: "elsewhere" }],
  ["another channel", { [HEADERS.channelId]: "private" }],
  ["another turn", { [HEADERS.turnId]: "turn_1" }],
  ["another step", { [HEADERS.stepId]: "step_1" }],
  ["another call", { [HEADERS.toolCallId]: "call_1" }],
  ["another parent agent", { [HEADERS.parentAgentId]: "boss" }],
  ["another parent turn", { [HEADERS.parentTurnId]: "turn_1" }],
  ["another parent step", { [HEADERS.parentStepId]: "step_1" }],
  ["another parent trace", { [HEADERS.parentTraceparent]: OTHER_TRACE }],
  ["another trace", { [HEADERS.traceparent]: OTHER_TRACE }],
  ["a traceparent that is none", { [HEADERS.traceparent]: "00-zz" }],
];

describe.each(CALLS)("a report of %s", (_, make) => {
  test.each(DOORS)("[DOOR-1-1] through %s is refused when a header contradicts the call", async (_door, send) => {
    const call = await make();
    const before = await fingerprint(stack.http.t);
    const passed: string[] = [];
    for (const [what, change] of WRONG) {
      const code = await send(call, { ...call.facts.headers, ...change });
      const isRefused = code === "protocol_violation" || (what === "another call" && code === "not_found");
      if (!isRefused) passed.push(`${what}: ${code}`);
    }
    expect(passed).toEqual([]);
    expect(await fingerprint(stack.http.t)).toBe(before);
    expect(await send(call, call.facts.headers)).toBe("success");
  });

  test.each(DOORS)("[DOOR-1-2] through %s is accepted when it names only its call and turn", async (_door, send) => {
    const call = await make();
    const { toolCallId, agentTurnId } = call.facts;
    expect(await send(call, { [HEADERS.toolCallId]: toolCallId, [HEADERS.turnId]: agentTurnId })).toBe("success");
  });
});

test("[DOOR-1-1] the gateway in the process sends what its context says, and it is held to that", async () => {
  const { engine } = stack.http.t;
  const { facts, lease: leaseId, payload } = await agentCall();
  const gateway = createEngineGateway({
    engine,
    projectId: "demo",
    actorId: "tool.text",
    holder: "a test",
    clock: systemClock,
    random: () => 0,
  });
  const right = {
    projectId: "demo",
    channelId: facts.channelId,
    agentId: facts.agentId,
    agentTurnId: facts.agentTurnId,
    turnEpoch: facts.turnEpoch,
    recursionDepth: facts.recursionDepth,
    stepId: facts.stepId,
    toolCallId: facts.toolCallId,
    traceId: facts.traceId,
    headers: facts.headers,
  };
  const target = (change: object): CGContext => createContext({ ...right, ...change });
  for (const change of [
    { turnEpoch: 9 },
    { recursionDepth: 9 },
    { agentId: "boss" },
    { channelId: "private" },
    { projectId: "elsewhere" },
    { agentTurnId: "turn_1" },
    { traceId: "a".repeat(32), headers: { [HEADERS.traceparent]: OTHER_TRACE } },
  ]) {
    const report = { source: target({}), target: target(change), payload, leaseId };
    await expect(gateway.report(report), JSON.stringify(change)).rejects.toMatchObject({ code: "protocol_violation" });
  }
  expect(await gateway.report({ source: target({}), target: target({}), payload, leaseId })).toMatchObject({
    idempotent: false,
  });
});

const IDENTITY_ONLY = WRONG.filter(([, change]) => change[HEADERS.traceparent] === undefined).filter(
  ([what]) => what !== "another call",
);

/** What a service asks about a call it holds, and the HTTP route of the same. */
const ASKED: readonly (readonly [operation: string, verb: string, body: (call: Reportable) => object])[] = [
  ["heartbeat", "heartbeat", ({ lease }) => ({ lease })],
  ["release", "release", ({ lease }) => ({ lease })],
  ["settle", "result", ({ lease }) => ({ lease, status: "success", result: {} })],
  ["parts", "parts", ({ lease }) => ({ lease, parts: [{ index: 0, part: 1 }] })],
];

test("[DOOR-1-3] heartbeat, release, result and parts are refused when a header contradicts the call", async () => {
  const held = await agentCall();
  const { toolCallId, headers } = held.facts;
  const before = await fingerprint(stack.http.t);
  const passed: string[] = [];
  for (const [operation, verb, body] of ASKED) {
    for (const [what, change] of IDENTITY_ONLY) {
      const said = { ...headers, ...change };
      const overNats = await stack.ask(operation, body(held), { headers: said });
      const path = `/projects/demo/calls/${toolCallId}/${verb}`;
      const overHttp = await stack.http.send("POST", path, body(held), { token, headers: said });
      for (const code of [overNats.error?.code, overHttp.body.error?.code])
        if (code !== "protocol_violation") passed.push(`${operation} with ${what}: ${code}`);
    }
  }
  for (const traceparent of [OTHER_TRACE, "00-zz"]) {
    const said = { ...headers, traceparent };
    const body = { lease: held.lease, status: "success", result: {} };
    const overNats = await stack.ask("settle", body, { headers: said });
    const overHttp = await stack.http.send("POST", `/projects/demo/calls/${toolCallId}/result`, body, {
      token,
      headers: said,
    });
    expect([overNats.error?.code, overHttp.body.error?.code]).toEqual(["protocol_violation", "protocol_violation"]);
  }
  expect(passed).toEqual([]);
  expect(await fingerprint(stack.http.t)).toBe(before);
});

test("[DOOR-1-4] a lease is refused when a header contradicts the call, its trace included", async () => {
  const queued = await stack.makeCall("safe");
  const facts = await stack.http.t.engine.calls.facts({ projectId: "demo", toolCallId: queued.toolCallId });
  const before = await fingerprint(stack.http.t);
  const passed: string[] = [];
  const body = { tool_call_card_id: queued.cardId, tool_name: "safe", after_execution: "suspend" };
  for (const [what, change] of WRONG) {
    const { error } = await stack.ask("lease", body, { headers: { ...facts.headers, ...change } });
    const isRefused = error?.code === "protocol_violation" || (what === "another call" && error?.code === "not_found");
    if (!isRefused) passed.push(`${what}: ${error?.code}`);
  }
  expect(passed).toEqual([]);
  // The service logs the clause with the command that it terminates (8.3).
  const clauseOf = async (change: object, asked: object = body) => {
    const { error } = await stack.ask("lease", asked, { headers: { ...facts.headers, ...change } });
    return (error as { readonly detail?: { readonly clause?: unknown } } | undefined)?.detail?.clause;
  };
  expect([
    await clauseOf({ [HEADERS.turnEpoch]: "7" }),
    await clauseOf({ [HEADERS.turnEpoch]: "one" }),
    await clauseOf({ [HEADERS.recursionDepth]: "11" }),
    await clauseOf({ [HEADERS.recursionDepth]: "-1" }),
    await clauseOf({ [HEADERS.agentId]: "boss" }),
    await clauseOf({ [HEADERS.projectId]: "elsewhere" }),
    await clauseOf({ [HEADERS.traceparent]: OTHER_TRACE }),
    await clauseOf({}, { ...body, tool_call_card_id: "other" }),
    await clauseOf({}, { ...body, tool_name: "other" }),
  ]).toEqual(["2.3", "2.3", "2.7", "2.7", "2.3", "2.3", "2.5", "8.4", "8.4"].map((clause) => `utp ${clause}`));
  const elsewhere = gatewayAt("lease").replace(".public.", ".private.");
  const { [HEADERS.channelId]: _none, ...rest } = facts.headers;
  expect((await stack.ask("lease", body, { subject: elsewhere, headers: rest })).error?.code).toBe(
    "protocol_violation",
  );
  expect(await fingerprint(stack.http.t)).toBe(before);
  expect(await stack.ask("lease", body, { headers: facts.headers })).toMatchObject({ status: 200 });
});

describe("[DOOR-1-5] an empty CG-Lease is not a lease", () => {
  const plainCall = async (): Promise<Reportable> => {
    const { t } = stack.http;
    const { toolCallId } = await t.engine.calls.dispatch({ projectId: "demo", toolName: "plain", arguments: {} });
    const facts = await t.engine.calls.facts({ projectId: "demo", toolCallId });
    return prepare({ facts, lease: { id: "" } });
  };

  test("over HTTP and in the process", async () => {
    const [one, two] = [await plainCall(), await plainCall()];
    expect(await overHttp(one, one.facts.headers)).toBe("success");
    expect(await inProcess(two, two.facts.headers)).toBe("success");
  });

  test("over NATS", async () => {
    await using legacy = await stack.server.connect("legacy");
    const { facts, payload } = await plainCall();
    const lines = Object.entries(facts.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const answer = await stack.ask("report", payload, {
      client: legacy,
      subject: gatewayAt("report", "legacy"),
      headers: `${lines.join("")}CG-Lease: \r\n`,
    });
    expect(answer).toMatchObject({ status: 200, body: { status: "success" } });
  });
});

test("[DOOR-1-8] a request about no single call is refused when a header cannot be read or names another place", async () => {
  const wrong: readonly HeaderMap[] = [
    { [HEADERS.turnEpoch]: "one" },
    { [HEADERS.turnEpoch]: "-1" },
    { [HEADERS.recursionDepth]: "-1" },
    { [HEADERS.recursionDepth]: "abc" },
    { [HEADERS.recursionDepth]: "" },
    { [HEADERS.projectId]: "elsewhere" },
  ];
  const routes = [
    ["claim", { wait_seconds: 0 }],
    ["exchange", { heartbeats: [{ tool_call_id: "call_1", lease: "guess" }] }],
  ] as const;
  const asked = [
    ["attach", {}],
    ["exchange", { heartbeats: [{ tool_call_id: "call_1", lease: "guess" }] }],
    ["get_tool", { tool_name: "safe" }],
  ] as const;
  const said = async (headers: HeaderMap): Promise<readonly unknown[]> => [
    ...(await Promise.all(
      routes.map(async ([verb, body]) => {
        const path = `/projects/demo/tool-services/text/${verb}`;
        return (await stack.http.send("POST", path, body, { token, headers: { ...headers } })).body.error?.code;
      }),
    )),
    ...(await Promise.all(asked.map(async ([name, body]) => (await stack.ask(name, body, { headers })).error?.code))),
  ];
  for (const headers of wrong)
    expect([headers, await said(headers)]).toEqual([headers, Array(5).fill("protocol_violation")]);
  // What else is said against them (there is no JetStream to attach to) is not about their headers.
  const blank = { [HEADERS.projectId]: " ", [HEADERS.channelId]: "", [HEADERS.turnEpoch]: "" };
  for (const headers of [blank, { [HEADERS.turnEpoch]: "4", [HEADERS.recursionDepth]: "2" }])
    expect([headers, await said(headers)]).toEqual([headers, expect.not.arrayContaining(["protocol_violation"])]);
});
