// Result cards of one call: one of its author while it is open, none after it has settled, whichever door they come through.
// Doors: HTTP, NATS, in process

import { systemClock } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import { createEngineGateway } from "@toolplane/server";
import { fingerprint, withClient } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AimedCall, type GatewayStack, resultCard, startGatewayStack } from "./gateway-stack.ts";

let stack: GatewayStack;
let token: string;
beforeAll(async () => {
  stack = await startGatewayStack();
  token = await stack.http.toolToken(["text"]);
});
afterAll(() => stack[Symbol.asyncDispose]());

type ResultCard = ReturnType<typeof resultCard>["card"];
interface Refused {
  readonly code: string;
  readonly message: string;
  readonly detail?: unknown;
}
/** Undefined when the card was taken. */
type Put = (call: AimedCall, card: ResultCard) => Promise<Refused | undefined>;

const overHttp: Put = async (_call, card) =>
  (await stack.http.send("POST", "/projects/demo/cards", card, { token })).body.error;

const overNats: Put = async (call, card) => (await stack.ask("put_card", card, { call })).error;

const inProcess: Put = async (_call, card) => {
  const gateway = createEngineGateway({
    engine: stack.http.t.engine,
    projectId: "demo",
    actorId: "tool.text",
    holder: "a test",
    clock: systemClock,
    random: () => 0,
  });
  try {
    await gateway.putCard(card);
    return undefined;
  } catch (error) {
    if (isToolplaneError(error)) return error.toWire();
    throw error;
  }
};

const settle = async ({ toolCallId, lease: leaseId }: AimedCall): Promise<string> => {
  const outcome = { given: { status: "success", result: { settled: true } } };
  const asked = { projectId: "demo", toolCallId, leaseId, actorId: "tool.text", outcome };
  return (await stack.http.t.engine.calls.settle(asked)).toolResultCardId;
};

const resultCards = ({ toolCallId }: AimedCall): Promise<number> =>
  withClient(stack.http.t, async (client) => {
    const counted = await client.query<{ count: number }>(
      "select count(*)::int as count from cards.cards where tool_call_id = $1 and type = 'tool.result'",
      [toolCallId],
    );
    return counted.rows[0]?.count ?? -1;
  });

describe.each([
  ["HTTP", overHttp],
  ["NATS", overNats],
  ["the process itself", inProcess],
] as const)("through %s", (door, put) => {
  const cardsOf = (call: AimedCall, count: number): readonly ResultCard[] =>
    Array.from({ length: count }, (_, index) => resultCard(call, `${door.slice(-6)}-${index}-${call.toolCallId}`).card);

  test("[DOOR-2-1] a second card is refused, and told which one to report instead; the same one again is a no-op", async () => {
    const call = await stack.takeCall("safe");
    const [first, second] = cardsOf(call, 2) as [ResultCard, ResultCard];
    expect(await put(call, first)).toBeUndefined();
    const before = await fingerprint(stack.http.t);
    expect(await put(call, first)).toBeUndefined();
    expect(await put(call, second)).toMatchObject({
      code: "conflict",
      message: expect.stringContaining(first.card_id),
      detail: { tool_result_card_id: first.card_id, status: "success" },
    });
    expect(await put(call, { ...first, created_at: "2026-01-02T00:00:00.000Z" })).toMatchObject({ code: "conflict" });
    expect(await fingerprint(stack.http.t)).toBe(before);
  });

  test("[DOOR-2-2] no card is taken after the call has settled, except the same one again", async () => {
    const call = await stack.takeCall("safe");
    const [first, ...late] = cardsOf(call, 5) as [ResultCard, ...ResultCard[]];
    expect(await put(call, first)).toBeUndefined();
    const resultId = await settle(call);
    const before = await fingerprint(stack.http.t);
    for (const card of late) {
      expect(await put(call, card)).toMatchObject({
        code: "already_settled",
        detail: { status: "success", tool_result_card_id: resultId },
      });
    }
    expect(await put(call, first)).toBeUndefined();
    expect(await fingerprint(stack.http.t)).toBe(before);
  });

  test("[DOOR-2-3] of many cards at once one is taken, and none beside the settlement", async () => {
    const call = await stack.takeCall("safe");
    const refused = await Promise.all(cardsOf(call, 12).map((card) => put(call, card)));
    expect(refused.filter((error) => error === undefined)).toHaveLength(1);
    expect(new Set(refused.map((error) => error?.code))).toEqual(new Set([undefined, "conflict"]));
    expect(await resultCards(call)).toBe(1);
    const other = await stack.takeCall("safe");
    await Promise.all([...cardsOf(other, 6).map((card) => put(other, card)), settle(other)]);
    expect(await resultCards(other)).toBeLessThanOrEqual(2);
  });
});
