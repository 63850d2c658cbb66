import fc from "fast-check";
import { expect, test } from "vitest";
import type { BrainToolCall } from "../brains/brain.ts";
import { planToolCalls, readToolCall, thoughtToolCalls } from "./tool-calls.ts";

test("[ARCH-9-T6] every call has an id of its own within the step: the provider's where it is fit", () => {
  const calls = [
    { id: "a", name: "x", arguments: {} },
    { id: "a", name: "y", arguments: "{}" },
    { name: "z", arguments: undefined },
    { id: "  ", name: "z", arguments: null },
    { id: "b".repeat(200), name: "z", arguments: null },
  ];
  expect(planToolCalls(calls, 3).map(({ id }) => id)).toEqual(["a", "tc_3_2", "tc_3_3", "tc_3_4", "tc_3_5"]);
});

test("[ARCH-9-T6] entries that are not calls are dropped, and what is kept reads back", () => {
  const odd = [
    null,
    1,
    "x",
    {},
    { name: "" },
    { name: 5 },
    { name: " ok ", arguments: { a: 1 } },
  ] as unknown as BrainToolCall[];
  const kept = planToolCalls(odd, 1);
  expect(kept).toEqual([{ id: "tc_1_1", name: "ok", arguments: { a: 1 } }]);
  expect(thoughtToolCalls(kept).map(readToolCall)).toEqual([{ id: "tc_1_1", name: "ok", arguments: '{"a":1}' }]);
});

test("[ARCH-9-T6] whatever a brain gives, ids are distinct and entries can be read", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          id: fc.option(fc.string({ maxLength: 3 }), { nil: undefined }),
          name: fc.string(),
          arguments: fc.anything(),
        }),
      ),
      (calls) => {
        const planned = planToolCalls(calls, 1);
        expect(new Set(planned.map(({ id }) => id)).size).toBe(planned.length);
        for (const shown of thoughtToolCalls(planned)) expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
      },
    ),
  );
});
