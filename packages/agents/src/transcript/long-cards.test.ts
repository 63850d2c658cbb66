import type { Card, JsonValue } from "@toolplane/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AGENT, call, entry, instruction, result, type SampleResult, TURN, thought } from "../../test/sample-cards.ts";
import { messageChars } from "./fit-budget.ts";
import { createLongReading, isShortened, resultChars } from "./long-cards.ts";
import { planReadCard } from "./read-card.ts";
import { buildTranscript, TRANSCRIPT_LIMITS } from "./transcript.ts";
import { LOCAL, UNKNOWN } from "./trust.ts";

const build = (cards: readonly Card[], external = true, contextCards: readonly Card[] = [instruction("i")]) =>
  buildTranscript({
    agentId: AGENT,
    agentTurnId: TURN,
    outputCards: cards,
    contextCards,
    trustOf: () => (external ? UNKNOWN : LOCAL),
    canReadMore: true,
  });

/** As a step reads them: newest first. */
const keep = (cards: readonly Card[], project = "p1"): readonly Card[] => {
  const reading = createLongReading(project);
  return cards.toReversed().map(reading.keep).toReversed();
};

const shown = (cards: readonly Card[], external = true) => {
  const { visible: _cards, ...rest } = build(cards, external);
  return rest;
};

const size = fc.constantFrom(0, 10, 799, 800, 7_999, 8_000, 8_001, 8_192, 16_384, 16_385, 100_000);
const value = (of: (length: number) => JsonValue) => size.map(of);
const answer: fc.Arbitrary<SampleResult> = fc.oneof(
  value((length) => "r".repeat(length)).map((text) => ({ result: text })),
  value((length) => "\u{1f600}".repeat(length / 2)).map((text) => ({ result: `x${text}` })),
  value((length) => ({ 10: "a", b: ["\u0001".repeat(length)], a: 1 })).map((json) => ({ result: json })),
  value((length) => ({ stdout: "o".repeat(length), stderr: "e" })).map((json) => ({ result: json })),
  size.map((length) => ({ result: "r", extra: { views: { model: "v".repeat(length) } } })),
  size.map((length) => ({
    result: { error_code: "x", more: "m".repeat(length) },
    error: { code: "tool_error", message: "no", detail: "d".repeat(length) },
  })),
  size.map((length) => ({ result: { partial: "p".repeat(length) }, error: { code: "tool_error", message: "no" } })),
  fc.constant({
    toolName: "read_card",
    author: AGENT,
    result: { card_id: "result-of-c0", offset: 0, total_chars: 9, next_offset: 8_000, text: "\u0001".repeat(8_000) },
  }),
  fc.constant({ result: null }),
);

test("[SEC-memory-steps] what is kept of long results and calls is shown as the whole cards are", () => {
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 8 }), fc.boolean(), (answers, external) => {
      const id = fc.sample(fc.uuid(), 1)[0];
      const entries = answers.map((_answer, n) => entry(`call_${n}`, "echo"));
      const cards = [
        thought(`t${id}`, entries, "thinking"),
        ...answers.map((_answer, n) => call(`c${n}`, `call_${n}`)),
        ...answers.map((given, n) => result(`c${n}`, { cardId: `${id}-${n}`, ...given })),
        result("stray", { cardId: `${id}-stray`, result: "s".repeat(50_000) }),
      ];
      const kept = keep(cards);
      expect(shown(kept, external)).toEqual(shown(cards, external));
      expect(kept.map((card) => resultChars(card) > 8_000)).toEqual(cards.map((card) => resultChars(card) > 8_000));
    }),
    { numRuns: 60 },
  );
});

test("[SEC-memory-steps] hundreds of long results and calls take little, and are read once", () => {
  const text = "x".repeat(900_000);
  const big: Card = { ...call("c", "call_0"), content: { ...call("c", "x").content, arguments: { text } } as never };
  const cards = [...Array.from({ length: 3 }, (_, n) => result("c", { cardId: `big-${n}`, result: [text] })), big];
  const kept = keep(cards, "p2");
  expect(kept.map(isShortened)).toEqual([true, true, true, false]);
  expect(JSON.stringify(kept).length).toBeLessThan(4_000);
  const again = createLongReading("p2");
  const known = (cardId: string, reading = again) => reading.known?.({ cardId, type: "", bytes: 900_000 });
  expect(cards.map(({ card_id }) => known(card_id))).toEqual(kept);
  expect(known("big-0", createLongReading("p3"))).toBeUndefined();
  // The whole text is still there to be read, from the card itself.
  const [whole] = cards;
  if (whole === undefined) return;
  const piece = planReadCard({ card_id: whole.card_id, offset: 899_999 }, new Map([[whole.card_id, whole]]));
  expect(piece).toMatchObject({ total_chars: 900_004, text: 'xxx"]' });
});

test("[SEC-memory-steps] of other long cards the newest stay whole; older ones, for which a transcript has no room, are short", () => {
  const args = JSON.stringify({ text: "a".repeat(300_000) });
  const cards = Array.from({ length: 40 }, (_, n) =>
    thought(`old-${n}`, [entry(`call_${n}`, "echo", args)], "t".repeat(1_500)),
  );
  const kept = keep(cards, "p4");
  expect(kept.slice(-5)).toEqual(cards.slice(-5));
  expect(JSON.stringify(kept.slice(0, 20)).length).toBeLessThan(50_000);
  expect(kept[0]).toMatchObject({ type: "agent.thought", metadata: { agent_turn_id: TURN } });
  const { messages } = build(kept, true, []);
  const calls = messages.flatMap((message) => ("tool_calls" in message ? message.tool_calls : []));
  expect(calls).toHaveLength(40);
  for (const { function: asked } of calls) JSON.parse((asked as { arguments: string }).arguments);
  // What a transcript may have unless its profile says otherwise.
  expect(messages.reduce((sum, message) => sum + messageChars(message), 0)).toBeLessThanOrEqual(
    TRANSCRIPT_LIMITS.totalChars,
  );
  expect(messages.at(0)?.content).toContain("characters not shown");
});
