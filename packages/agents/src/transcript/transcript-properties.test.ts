import type { Card } from "@toolplane/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AGENT, call, entry, instruction, result, TURN, thought } from "../../test/sample-cards.ts";
import { messageChars } from "./fit-budget.ts";
import { buildTranscript } from "./transcript.ts";
import { LOCAL, UNKNOWN } from "./trust.ts";

interface Step {
  /** Provider ids; they repeat, and some are empty. */
  readonly ids: readonly string[];
  /** Which calls have a card, which have a result, and in which order results come. */
  readonly called: readonly boolean[];
  readonly answered: readonly boolean[];
  readonly reverse: boolean;
  readonly size: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  ids: fc.array(fc.constantFrom("call_0", "call_1", "", "x"), { maxLength: 4 }),
  called: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  answered: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  reverse: fc.boolean(),
  size: fc.constantFrom(0, 10, 3000, 20_000),
});

const cardsOf = (steps: readonly Step[]): readonly Card[] =>
  steps.flatMap(({ ids, called, answered, reverse, size }, at) => {
    const calls = ids.flatMap((id, n) => (called[n] === true ? [call(`s${at}c${n}`, id)] : []));
    const results = ids.flatMap((_id, n) =>
      answered[n] === true ? [result(`s${at}c${n}`, { result: "r".repeat(size) })] : [],
    );
    const entries = ids.map((id) => entry(id, "echo"));
    return [thought(`t${at}`, entries, "thinking"), ...calls, ...(reverse ? results.reverse() : results)];
  });

const build = (cards: readonly Card[], totalChars: number, external: boolean) =>
  buildTranscript({
    agentId: AGENT,
    agentTurnId: TURN,
    outputCards: cards,
    contextCards: [instruction("i", "Do it. ".repeat(50))],
    trustOf: () => (external ? UNKNOWN : LOCAL),
    canReadMore: true,
    limits: { totalChars },
  });

test("[ARCH-9-T4] every call has exactly one answer, right behind its thought, and no two calls share an id", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), fc.boolean(), (steps, external) => {
      const { messages } = build(cardsOf(steps), 1_000_000, external);
      const seen = new Set<string>();
      for (let at = 0; at < messages.length; at++) {
        const message = messages[at];
        if (message === undefined || !("tool_calls" in message)) {
          expect(message !== undefined && "tool_call_id" in message).toBe(false);
          continue;
        }
        for (const { id } of message.tool_calls) {
          expect(id).not.toBe("");
          expect(seen.has(String(id))).toBe(false);
          seen.add(String(id));
          at += 1;
          expect(messages[at]).toMatchObject({ role: "tool", tool_call_id: id });
        }
      }
    }),
  );
});

test("[ARCH-9-T7] a transcript over its budget gets shorter texts and keeps every message", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), fc.integer({ min: 500, max: 40_000 }), (steps, totalChars) => {
      const cards = cardsOf(steps);
      const whole = build(cards, 10_000_000, true);
      const fitted = build(cards, totalChars, true);
      expect(fitted.messages.map(({ role }) => role)).toEqual(whole.messages.map(({ role }) => role));
      expect(fitted.messages[0]).toEqual(whole.messages[0]);
      const size = fitted.messages.reduce((sum, message) => sum + messageChars(message), 0);
      const wholeSize = whole.messages.reduce((sum, message) => sum + messageChars(message), 0);
      if (wholeSize <= totalChars) expect(fitted.messages).toEqual(whole.messages);
      else expect(size).toBeLessThanOrEqual(wholeSize);
    }),
  );
});

test("[ARCH-9-T7] the oldest results are shortened first, and only as many as it takes", () => {
  const steps = Array.from(
    { length: 4 },
    (): Step => ({ ids: ["a"], called: [true], answered: [true], reverse: false, size: 5000 }),
  );
  const { messages } = build(cardsOf(steps), 15_000, false);
  const sizes = messages.filter(({ role }) => role === "tool").map(({ content }) => content.length > 4000);
  expect(sizes).toEqual([false, false, true, true]);
});

test("[ARCH-9-T8] the same cards give the same messages", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 4 }), (steps) => {
      expect(build(cardsOf(steps), 20_000, true)).toEqual(build(cardsOf(steps), 20_000, true));
    }),
  );
});
