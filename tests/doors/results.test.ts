// Sections 4.4, 6.5 and D-05 of the protocol at every door of a service: what a result card and its callback may hold, and how
// large a card may be.
// Doors: HTTP, NATS, in process

import { isToolplaneError } from "@toolplane/protocol";
import { fingerprint } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type AimedCall,
  callHeaders,
  ELSEWHERE,
  type GatewayStack,
  resultCard,
  startGatewayStack,
} from "../gateway/gateway-stack.ts";

let stack: GatewayStack;
let token: string;
beforeAll(async () => {
  stack = await startGatewayStack();
  token = await stack.http.toolToken(["text"]);
});
afterAll(() => stack[Symbol.asyncDispose]());

/** The code of a refusal; undefined when it was taken. */
type Say = (call: AimedCall, what: "cards" | "reports", body: object) => Promise<string | undefined>;

const headersOf = (call: AimedCall) => ({ ...callHeaders(call), "CG-Lease": call.lease });

const overHttp: Say = async (call, what, body) =>
  (await stack.http.send("POST", `/projects/demo/${what}`, body, { token, headers: headersOf(call) })).body.error?.code;

const overNats: Say = async (call, what, body) => {
  const operation = what === "cards" ? "put_card" : "report";
  return (await stack.ask(operation, body, { headers: headersOf(call) })).error?.code;
};

const inProcess: Say = async (call, what, body) => {
  const { calls } = stack.http.t.engine;
  const said = { projectId: "demo", actorId: "tool.text", leaseId: call.lease };
  const { toolCallId } = call;
  try {
    if (what === "cards") await calls.putResultCard({ ...said, card: body });
    else await calls.report({ ...said, toolCallId, payload: body, headers: callHeaders(call) });
    return undefined;
  } catch (error) {
    if (isToolplaneError(error)) return error.code;
    throw error;
  }
};

describe.each([
  ["HTTP", overHttp],
  ["NATS", overNats],
  ["the process itself", inProcess],
] as const)("over %s", (_door, say) => {
  test("[UTP-4.4-C1] a card is of the project it is written in, and of a call there", async () => {
    const call = await stack.takeCall("safe");
    const { card } = resultCard(call);
    const far = await stack.makeCall("far", ELSEWHERE);
    const before = await fingerprint(stack.http.t);
    expect(await say(call, "cards", { ...card, project_id: ELSEWHERE })).toBeOneOf(["conflict", "protocol_violation"]);
    const theirs = resultCard({ ...far, lease: call.lease }).card;
    expect(await say({ ...far, lease: call.lease }, "cards", theirs)).toBe("not_found");
    expect(await fingerprint(stack.http.t)).toBe(before);
    expect(await say(call, "cards", card)).toBeUndefined();
    expect(await say(call, "cards", card)).toBeUndefined();
    const other = { ...card, content: { ...card.content, result: { other: true } } };
    expect(await say(call, "cards", other)).toBe("conflict");
  });

  test("[UTP-D05-C2] [UTP-D01-C1] a callback holds no result, no arguments and no identity", async () => {
    const call = await stack.takeCall("safe");
    const { card, payload } = resultCard(call);
    expect(await say(call, "cards", card)).toBeUndefined();
    const before = await fingerprint(stack.http.t);
    for (const inline of [{ result: {} }, { args: {} }, { arguments: {} }, { turn_epoch: 0 }, { agent_id: "sys.api" }])
      expect([inline, await say(call, "reports", { ...payload, ...inline })]).toEqual([inline, "protocol_violation"]);
    expect(await fingerprint(stack.http.t)).toBe(before);
    // What nobody knows is ignored (D-04).
    expect(await say(call, "reports", { ...payload, surprise: 1 })).toBeUndefined();
  });

  test("[DOOR-2-1] a card over the limit is refused, and leaves the place to one that fits", async () => {
    const call = await stack.takeCall("safe");
    const { card, payload } = resultCard(call);
    const large = { ...card, content: { ...card.content, result: { text: "x".repeat(1_100_000) } } };
    const before = await fingerprint(stack.http.t);
    expect(await say(call, "cards", large)).toBeOneOf(["result_too_large", "payload_too_large"]);
    expect(await fingerprint(stack.http.t)).toBe(before);
    expect(await say(call, "cards", card)).toBeUndefined();
    expect(await say(call, "reports", payload)).toBeUndefined();
  });
});
