// Result cards of one call: one of its author while it is open, under the lease that is live, none after it has settled,
// whichever door they come through.
// Doors: HTTP, NATS, in process

import { systemClock } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import { createEngineGateway } from "@toolplane/server/internal";
import { fingerprint, withClient } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AimedCall, callHeaders, type GatewayStack, resultCard, startGatewayStack } from "./gateway-stack.ts";

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
/** Undefined when the card was taken. Under the call's lease; an empty one is left out. */
type Put = (call: AimedCall, card: ResultCard) => Promise<Refused | undefined>;

const underLease = ({ lease }: AimedCall): Record<string, string> => (lease === "" ? {} : { "CG-Lease": lease });

const overHttp: Put = async (call, card) =>
  (await stack.http.send("POST", "/projects/demo/cards", card, { token, headers: underLease(call) })).body.error;

const overNats: Put = async (call, card) =>
  (await stack.ask("put_card", card, { headers: { ...callHeaders(call), ...underLease(call) } })).error;

const inProcess: Put = async (call, card) => {
  const gateway = createEngineGateway({
    engine: stack.http.t.engine,
    projectId: "demo",
    actorId: "tool.text",
    holder: "a test",
    clock: systemClock,
    random: () => 0,
  });
  try {
    await gateway.putCard({ card, leaseId: call.lease });
    return undefined;
  } catch (error) {
    if (isToolplaneError(error)) return error.toWire();
    throw error;
  }
};

type Answer = { readonly error: Refused } | { readonly cardId: string; readonly idempotent: boolean };
/** In one step, without a card of the service's own. */
type Settle = (call: AimedCall, result: object) => Promise<Answer>;

const answerOf = (body: { error?: Refused; tool_result_card_id?: string; idempotent?: boolean }): Answer =>
  body.error === undefined
    ? { cardId: body.tool_result_card_id ?? "", idempotent: body.idempotent ?? false }
    : { error: body.error };

const settleOverHttp: Settle = async ({ toolCallId, lease }, result) => {
  const body = { lease, status: "success", result };
  return answerOf((await stack.http.send("POST", `/projects/demo/calls/${toolCallId}/result`, body, { token })).body);
};

const settleOverNats: Settle = async (call, result) => {
  const { body, error } = await stack.ask("settle", { lease: call.lease, status: "success", result }, { call });
  return answerOf(error === undefined ? body : { error });
};

const settleInProcess: Settle = async ({ toolCallId, lease: leaseId }, result) => {
  const outcome = { given: { status: "success", result } };
  const asked = { projectId: "demo", toolCallId, leaseId, actorId: "tool.text", outcome };
  try {
    const { toolResultCardId, idempotent } = await stack.http.t.engine.calls.settle(asked);
    return { cardId: toolResultCardId ?? "", idempotent };
  } catch (error) {
    if (isToolplaneError(error)) return { error: error.toWire() };
    throw error;
  }
};

/** What the cards of these tests say, and something else. */
const SAME = { ok: true };
const OTHER = { ok: false };

/** Gives the call back and takes it again: who had it before is a holder that was replaced. */
const replaceHolder = async (old: AimedCall): Promise<AimedCall> => {
  const { calls } = stack.http.t.engine;
  const key = { projectId: "demo", toolCallId: old.toolCallId };
  await calls.release({ ...key, leaseId: old.lease });
  const asked = { ...key, agentTurnId: old.turnId, callCardId: old.cardId, holder: "another" };
  return { ...old, lease: (await calls.lease(asked)).lease.id };
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
  ["HTTP", overHttp, settleOverHttp],
  ["NATS", overNats, settleOverNats],
  ["the process itself", inProcess, settleInProcess],
] as const)("through %s", (door, put, settle) => {
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
    const resultId = first.card_id;
    expect(await settle(call, SAME)).toEqual({ cardId: resultId, idempotent: false });
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

  test("[DOOR-2-5] while a lease is live a card is taken only under it", async () => {
    const zombie = await stack.takeCall("safe");
    const live = await replaceHolder(zombie);
    const [late, card] = cardsOf(live, 2) as [ResultCard, ResultCard];
    const before = await fingerprint(stack.http.t);
    for (const lease of [zombie.lease, "guess", ""]) {
      const refused = await put({ ...live, lease }, late);
      expect(refused).toMatchObject({ code: "lease_lost", message: expect.stringContaining(live.toolCallId) });
    }
    expect(await fingerprint(stack.http.t)).toBe(before);
    expect(await put(live, card)).toBeUndefined();
    // The card that stands is told to the holder alone.
    expect(await put(zombie, late)).toMatchObject({ code: "lease_lost" });
    expect(await put(live, late)).toMatchObject({ code: "conflict" });
    const { calls } = stack.http.t.engine;
    const queued = await stack.makeCall("safe");
    expect(await put({ ...queued, lease: zombie.lease }, cardsOf(queued, 1)[0] as ResultCard)).toMatchObject({
      code: "lease_lost",
    });
    await calls.cancel({ projectId: "demo", toolCallId: live.toolCallId });
    expect(await resultCards(live)).toBe(1);
  });

  test("[DOOR-2-3] of many cards at once one is taken, and none beside the settlement", async () => {
    const call = await stack.takeCall("safe");
    const refused = await Promise.all(cardsOf(call, 12).map((card) => put(call, card)));
    expect(refused.filter((error) => error === undefined)).toHaveLength(1);
    expect(new Set(refused.map((error) => error?.code))).toEqual(new Set([undefined, "conflict"]));
    expect(await resultCards(call)).toBe(1);
    const other = await stack.takeCall("safe");
    await Promise.all([...cardsOf(other, 6).map((card) => put(other, card)), settle(other, OTHER)]);
    expect(await resultCards(other)).toBe(1);
  });

  test("[DOOR-2-6] a result with other content than the card that stands is refused and changes nothing; the same content settles with that card", async () => {
    const call = await stack.takeCall("safe");
    const [card] = cardsOf(call, 1) as [ResultCard];
    expect(await put(call, card)).toBeUndefined();
    const before = await fingerprint(stack.http.t);
    expect(await settle(call, OTHER)).toMatchObject({
      error: {
        code: "conflict",
        message: expect.stringContaining(card.card_id),
        detail: { tool_result_card_id: card.card_id, status: "success" },
      },
    });
    // The card that stands is told to the holder alone.
    expect(await settle({ ...call, lease: "guess" }, SAME)).toMatchObject({ error: { code: "lease_lost" } });
    expect(await fingerprint(stack.http.t)).toBe(before);
    expect(await settle(call, SAME)).toEqual({ cardId: card.card_id, idempotent: false });
    expect(await settle(call, SAME)).toEqual({ cardId: card.card_id, idempotent: true });
    expect(await settle(call, OTHER)).toMatchObject({ error: { code: "already_settled" } });
    expect(await resultCards(call)).toBe(1);
  });
});
