import { type Card, parseCard } from "@toolplane/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { call, instruction, result } from "../../test/sample-cards.ts";
import { MAX_READ_CHARS, planReadCard, readCardSpec } from "./read-card.ts";
import { excerpt } from "./slice-text.ts";

const see = (...cards: Card[]) => new Map(cards.map((card) => [card.card_id, card]));

describe("read_card", () => {
  test("[SEC-15-T3] reading on gives the whole text, every character once, and never half of one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.integer({ min: 1, max: 40 }), (raw, length) => {
        const text = raw.toWellFormed();
        const card = result("call", { result: text });
        let offset: number | undefined = 0;
        let read = "";
        for (let turns = 0; offset !== undefined && turns < 400; turns++) {
          const piece = planReadCard({ card_id: card.card_id, offset, length }, see(card));
          expect(piece.text.isWellFormed()).toBe(true);
          read += piece.text;
          offset = piece.next_offset as number | undefined;
        }
        expect(read).toBe(text);
      }),
    );
  });

  test.each<[string, Card, string]>([
    ["a text", result("c", { result: "hello" }), "hello"],
    ["a document", result("c", { result: { a: [1] } }), '{"a":[1]}'],
    ["a long stream, whole", result("c", { result: { stdout: "x".repeat(5000) } }), `{"stdout":"${"x".repeat(5000)}"}`],
    ["nothing", result("c"), ""],
    [
      "a failure",
      result("c", { error: { code: "tool_error", message: "no" } }),
      '{"error":{"code":"tool_error","message":"no"}}',
    ],
    ["an instruction", instruction("i", "Do."), "Do."],
  ])("[SEC-15-T3] of %s", (_name, card, text) => {
    expect(planReadCard({ card_id: card.card_id }, see(card))).toEqual({
      card_id: card.card_id,
      offset: 0,
      total_chars: text.length,
      text,
    });
  });

  test("[SEC-15-T3] one reading is bounded, whatever is asked for", () => {
    const card = result("c", { result: "y".repeat(50_000) });
    const piece = planReadCard(JSON.stringify({ card_id: card.card_id, offset: 10, length: 1e9 }), see(card));
    expect(piece.text).toHaveLength(MAX_READ_CHARS);
    expect(piece.next_offset).toBe(10 + MAX_READ_CHARS);
    expect(planReadCard({ card_id: card.card_id, offset: 60_000 }, see(card))).toMatchObject({
      text: "",
      offset: 50_000,
    });
  });

  test.each<[string, unknown, string]>([
    ["a card that is not in the conversation", { card_id: "elsewhere" }, "not_found"],
    ["a card that is not a message", { card_id: "card-of-c" }, "not_found"],
    ["no card", {}, "bad_request"],
    ["a negative offset", { card_id: "x", offset: -1 }, "bad_request"],
    ["no length", { card_id: "x", length: 0 }, "bad_request"],
    ["another key", { card_id: "x", path: "/etc/passwd" }, "bad_request"],
    ["no JSON", "{", "bad_request"],
  ])("[SEC-15-T4] %s is refused", (_name, args, code) => {
    expect(() => planReadCard(args, see(call("c", "a")))).toThrow(expect.objectContaining({ code }));
  });

  test("[SEC-15-T3] its result can be stored, and its spec is one of ours", () => {
    const card = result("c", { result: "\u{1f600}".repeat(10) });
    const piece = planReadCard({ card_id: card.card_id, offset: 1, length: 3 }, see(card));
    expect(() => parseCard(result("r", { result: piece }))).not.toThrow();
    expect(readCardSpec().function.parameters).toMatchObject({ required: ["card_id"], additionalProperties: false });
  });
});

test("[SEC-15-T3] an excerpt has the beginning and the end, and says what is between", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.integer({ min: 2, max: 100 }), (raw, limit) => {
      const text = raw.toWellFormed();
      const cut = excerpt(text, limit);
      expect(cut === undefined).toBe(text.length <= limit);
      if (cut === undefined) return;
      expect(cut.head + text.slice(cut.from, cut.to) + cut.tail).toBe(text);
      expect(cut.head.isWellFormed() && cut.tail.isWellFormed()).toBe(true);
      expect(cut.head.length + cut.tail.length).toBeLessThanOrEqual(limit + 1);
    }),
  );
});
