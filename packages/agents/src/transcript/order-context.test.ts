import { describe, expect, test } from "vitest";
import { instruction, TURN, thought } from "../../test/sample-cards.ts";
import { orderContext } from "./order-context.ts";

const old = [thought("o1", [], "before", "turn_0"), thought("o2", [], "before", "turn_0")];
const context = [instruction("c1"), instruction("c2")];
const own = [thought("t1", []), thought("t2", [])];
const ids = (outputCards: typeof own, contextCards: typeof own) =>
  orderContext({ agentTurnId: TURN, outputCards, contextCards }).map(({ card_id }) => card_id);

describe("the cards of a step", () => {
  test.each([
    ["a turn that begins: the output box first, then the context", old, context, "o1 o2 c1 c2"],
    ["a turn that has begun: what it wrote comes after its context", [...old, ...own], context, "o1 o2 c1 c2 t1 t2"],
    ["an output box of its own", own, context, "c1 c2 t1 t2"],
    [
      "a card in both boxes stands where it stood in the output box",
      [...old, ...context.slice(1), ...own],
      context,
      "o1 o2 c2 c1 t1 t2",
    ],
    ["one box for both", [...context, ...own], [...context, ...own], "c1 c2 t1 t2"],
    [
      "cards that are doubled in a box",
      [...old, ...old, ...own, ...own],
      [...context, ...context],
      "o1 o2 c1 c2 t1 t2",
    ],
    ["nothing", [], [], ""],
  ])("[UTP-10.2-5] %s", (_name, output, given, expected) => {
    expect(ids(output, given).join(" ")).toBe(expected);
  });

  test("[ARCH-9-T1] a transcript only grows at its end", () => {
    for (let length = 0; length <= own.length; length++) {
      const now = ids([...old, ...own.slice(0, length)], context);
      const next = ids([...old, ...own.slice(0, length + 1)], context);
      expect(next.slice(0, now.length)).toEqual(now);
    }
  });
});
