import { type Card, cardText, textContent } from "@toolplane/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld, sha256 } from "../../test/registry-world.ts";
import { sampleCard, sampleResult } from "../../test/sample-cards.ts";

let world: RegistryWorld;
const A = "proj_a";
const B = "proj_b";

beforeAll(async () => {
  world = await openRegistryWorld();
  await world.projects.createProject({ project_id: A, title: "A", bootstrap: false }, "me");
  await world.projects.createProject({ project_id: B, title: "B", bootstrap: false }, "me");
});
afterAll(() => world[Symbol.asyncDispose]());

const countCards = async (projectId: string): Promise<number> =>
  (await world.ask<{ n: number }>("select count(*)::int as n from cards.cards where project_id = $1", [projectId]))[0]
    ?.n ?? -1;

describe("writing", () => {
  test("[INV-I7-E1] [UTP-4.4-C1] the same id with the same hash again is a no-op", async () => {
    const card = sampleCard(A);
    expect(await world.cards.putCards(A, [card])).toEqual([
      { cardId: card.card_id, hash: sha256(cardText(card)), inserted: true },
    ]);
    expect(await world.cards.putCards(A, [{ ...card }])).toMatchObject([{ cardId: card.card_id, inserted: false }]);
  });

  test("[UTP-4.4-E1] another spelling of the same card is the same card: key order and absent optional fields", async () => {
    const card = sampleCard(A, { metadata: { a: 1, b: 2 } });
    await world.cards.putCards(A, [card]);
    const { tool_calls: _calls, ttl_seconds: _ttl, ...short } = card;
    expect(await world.cards.putCards(A, [{ ...short, metadata: { b: 2, a: 1 } }])).toMatchObject([
      { inserted: false },
    ]);
  });

  test.each([
    ["content", { content: textContent("other") }],
    ["metadata", { metadata: { role: "system" } }],
    ["author", { author_id: "agent_b" }],
    ["time", { created_at: "2026-01-02T03:04:05.001Z" }],
  ] as const)(
    "[UTP-4.4-E2] the same id with another %s is a conflict that names it, and nothing of the batch is written",
    async (_what, changes) => {
      const card = sampleCard(A);
      await world.cards.putCards(A, [card]);
      const fresh = sampleCard(A);
      await expect(world.cards.putCards(A, [fresh, { ...card, ...changes }])).rejects.toMatchObject({
        code: "conflict",
        detail: { card_id: card.card_id },
      });
      expect(await world.cards.getCards(A, [fresh.card_id, card.card_id])).toEqual([card]);
    },
  );

  test("[UTP-4.4-E2] two contents for one id inside a batch are a conflict; the same card twice is one", async () => {
    const card = sampleCard(A);
    const other = { ...card, content: textContent("other") };
    await expect(world.cards.putCards(A, [card, other])).rejects.toMatchObject({ code: "conflict" });
    expect(await world.cards.putCards(A, [card, card])).toMatchObject([{ inserted: true }, { inserted: true }]);
    expect(await world.cards.getCards(A, [card.card_id])).toEqual([card]);
  });

  test("[SEC-4-E1] a hundred writers of one id with two contents leave exactly one of them", async () => {
    const card = sampleCard(A);
    const other = { ...card, content: textContent("other") };
    const writes = Array.from({ length: 100 }, (_, i) => world.cards.putCards(A, [i % 2 === 0 ? card : other]));
    const outcomes = await Promise.allSettled(writes);
    const [stored] = await world.cards.getCards(A, [card.card_id]);
    const winners = outcomes.filter((outcome) => outcome.status === "fulfilled").length;
    expect(winners).toBe(50);
    expect([card, other]).toContainEqual(stored);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "conflict" });
  });

  test("[INV-I7-E1] what is stored is canonical text with its SHA-256, and the columns are taken from it", async () => {
    const card = sampleResult(A, "tc_1", { z: 1, a: [2, 1] }, { step_id: "step_1", agent_turn_id: "turn_1" });
    await world.cards.putCards(A, [card]);
    const [row] = await world.ask("select * from cards.cards where project_id = $1 and card_id = $2", [
      A,
      card.card_id,
    ]);
    expect(row).toMatchObject({
      type: "tool.result",
      author_id: "tool.text",
      tool_call_id: "tc_1",
      agent_turn_id: "turn_1",
      step_id: "step_1",
      candidate: false,
      body: cardText(card),
      hash: sha256(cardText(card)),
    });
  });

  test("a write inside a transaction that is rolled back leaves nothing", async () => {
    const card = sampleCard(A);
    const failed = world.db.transaction(async (tx) => {
      await world.cards.putCards(A, [card], { tx });
      await world.cards.putCards(A, [{ ...card, content: textContent("other") }], { tx });
    });
    await expect(failed).rejects.toMatchObject({ code: "conflict" });
    expect(await world.cards.getCards(A, [card.card_id])).toEqual([]);
  });
});

describe("refusals leave the table as it was", () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });

  test.each<[string, (store: RegistryWorld) => unknown[], string]>([
    [
      "[SEC-4-E2] a card over the size cap",
      () => [sampleCard(A, { content: textContent("x".repeat(2 ** 20)) })],
      "payload_too_large",
    ],
    ["[SEC-4-E2] a result over the size cap", () => [sampleResult(A, "tc_2", "x".repeat(2 ** 20))], "result_too_large"],
    [
      "[SEC-4-E3] a card nested deeper than the cap",
      () => [sampleCard(A, { metadata: { m: deep(70) } as never })],
      "bad_request",
    ],
    [
      "[SEC-4-E3] a result nested deeper than the cap",
      () => [sampleResult(A, "tc_2", deep(70))],
      "result_not_serializable",
    ],
    ["NUL in a result", () => [sampleResult(A, "tc_2", "a\u0000b")], "result_not_serializable"],
    ["a lone surrogate in a result", () => [sampleResult(A, "tc_2", "a\ud800b")], "result_not_serializable"],
    ["NUL in another card", () => [sampleCard(A, { content: textContent("a\u0000b") })], "bad_request"],
    ["[SEC-14-E1] a card of another project", () => [sampleCard(B)], "protocol_violation"],
    ["an id with a blank", () => [sampleCard(A, { card_id: "a b" })], "protocol_violation"],
    ["an id that is too long", () => [sampleCard(A, { card_id: "x".repeat(129) })], "protocol_violation"],
    ["an unknown key", () => [{ ...sampleCard(A), meta: {} }], "bad_request"],
    ["more than a hundred cards", () => Array.from({ length: 101 }, () => sampleCard(A)), "bad_request"],
    [
      "too many bytes in one write",
      () => Array.from({ length: 33 }, () => sampleCard(A, { content: textContent("x".repeat(1_040_000)) })),
      "payload_too_large",
    ],
  ])("%s", async (_title, cards, code) => {
    const before = await countCards(A);
    await expect(world.cards.putCards(A, cards(world))).rejects.toMatchObject({ code });
    expect(await countCards(A)).toBe(before);
  });

  test("[SEC-4-E4] a __proto__ key is dropped and constructor is plain data", async () => {
    const card = sampleCard(A, { metadata: JSON.parse('{"__proto__":{"polluted":true},"constructor":{"x":1}}') });
    await world.cards.putCards(A, [card]);
    const [stored] = await world.cards.getCards(A, [card.card_id]);
    expect(stored?.metadata).toEqual({ constructor: { x: 1 } });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("reading", () => {
  const putMany = async (count: number): Promise<Card[]> => {
    const cards = Array.from({ length: count }, () => sampleCard(A));
    await world.cards.putCards(A, cards);
    return cards;
  };

  test("[UTP-4.5-E1] get follows input order with duplicates; null, empty and missing ids are skipped", async () => {
    const [x, y] = await putMany(2);
    const ids = [y?.card_id, null, x?.card_id, "", "nobody", y?.card_id, undefined, "a\u0000b", "\ud800"];
    expect(await world.cards.getCards(A, ids)).toEqual([y, x, y]);
    expect(await world.cards.getCards(A, [])).toEqual([]);
  });

  test("[UTP-4.5-E1] for any list of ids the answer is the list without what is missing", async () => {
    const cards = await putMany(5);
    const known = new Map(cards.map((card) => [card.card_id, card]));
    const id = fc.constantFrom(...known.keys(), "nobody", "");
    await fc.assert(
      fc.asyncProperty(fc.array(id, { maxLength: 30 }), async (ids) => {
        const expected = ids.map((one) => known.get(one)).filter((card) => card !== undefined);
        expect(await world.cards.getCards(A, ids)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  test("[UTP-4.5-E2] one query however many ids", async () => {
    const cards = await putMany(20);
    const before = world.db.stats().statements;
    await world.cards.getCards(
      A,
      [...cards, ...cards].map((card) => card.card_id),
    );
    expect(world.db.stats().statements - before).toBe(1);
  });

  test("[UTP-4.5-E2] those who ask at the same moment share a query, and each sees its own project's cards alone", async () => {
    const cards = await putMany(20);
    const before = world.db.stats().statements;
    const answers = await Promise.all(
      cards.flatMap(({ card_id }) => [world.cards.getCards(A, [card_id]), world.cards.getCards(B, [card_id])]),
    );
    expect(world.db.stats().statements - before).toBe(1);
    expect(answers).toEqual(cards.flatMap((card) => [[card], []]));
  });

  test("many cards asked for at once leave in several queries", async () => {
    const cards = await putMany(90);
    const answers = await Promise.all(cards.map(({ card_id }) => world.cards.getCards(A, [card_id])));
    expect(answers.flat()).toEqual(cards);
  });

  test("[UTP-13.2-E1] a batch gives each card once and lists what is missing", async () => {
    const [x, y] = await putMany(2);
    const batch = await world.cards.getCardBatch(A, [
      "nobody",
      y?.card_id ?? "",
      x?.card_id ?? "",
      y?.card_id ?? "",
      "none",
    ]);
    expect(batch).toEqual({ cards: [y, x], missingIds: ["nobody", "none"], omittedIds: [] });
    expect(await world.cards.getCardBatch(A, [])).toEqual({ cards: [], missingIds: [], omittedIds: [] });
  });

  test("[UTP-13.2-E2] a batch takes a hundred distinct ids and not one more", async () => {
    const ids = Array.from({ length: 101 }, (_, i) => `id-${i}`);
    await expect(world.cards.getCardBatch(A, ids)).rejects.toMatchObject({ code: "bad_request" });
    const repeated = [...ids.slice(0, 100), ...ids.slice(0, 100)];
    expect((await world.cards.getCardBatch(A, repeated)).missingIds).toHaveLength(100);
  });

  test("[SEC-14-E1] [UTP-4.1-C13] another project's card does not exist, by any read", async () => {
    const card = sampleCard(A);
    await world.cards.putCards(A, [card]);
    expect(await world.cards.getCards(B, [card.card_id])).toEqual([]);
    expect(await world.cards.getCardBatch(B, [card.card_id])).toEqual({
      cards: [],
      missingIds: [card.card_id],
      omittedIds: [],
    });
    // and the same id may live in both, with contents of their own
    const theirs = sampleCard(B, { card_id: card.card_id, content: textContent("theirs") });
    await world.cards.putCards(B, [theirs]);
    expect(await world.cards.getCards(A, [card.card_id])).toEqual([card]);
    expect(await world.cards.getCards(B, [card.card_id])).toEqual([theirs]);
  });

  test("[UTP-W12-E1] a card past its ttl is not read any more", async () => {
    const card = sampleCard(A, { ttl_seconds: 3600 });
    const dead = sampleCard(A, { ttl_seconds: 0 });
    await world.cards.putCards(A, [card, dead]);
    expect(await world.cards.getCards(A, [card.card_id, dead.card_id])).toEqual([card]);
  });
});
