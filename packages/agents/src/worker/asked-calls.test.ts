import fc from "fast-check";
import { expect, test } from "vitest";
import type { BrainToolCall } from "../brains/brain.ts";
import { MAX_STEP_BYTES, readAskedCalls } from "./asked-calls.ts";

const read = (...calls: unknown[]) => readAskedCalls(calls as BrainToolCall[], 3);

test("[UTP-10.2-12] a call without an id gets one; the provider's is kept as an alias", () => {
  const calls = read({ id: "call_0", name: "a", arguments: {} }, { name: "b", arguments: "{}" });
  expect(calls.map(({ alias }) => alias)).toEqual(["call_0", "tc_3_2"]);
});

test("[UTP-W03] ids a model repeats within a step are told apart", () => {
  const calls = read({ id: "call_0", name: "a" }, { id: "call_0", name: "b" }, { id: "tc_3_2", name: "c" });
  expect(new Set(calls.map(({ alias }) => alias)).size).toBe(3);
  expect(calls.map(({ shown }) => shown.id)).toEqual(calls.map(({ alias }) => alias));
});

test.each<[string, unknown, object, string | undefined]>([
  ["an object", { a: 1 }, { a: 1 }, undefined],
  ["JSON text", '{"a":1}', { a: 1 }, undefined],
  ["nothing", undefined, {}, undefined],
  ["an empty text", "", {}, undefined],
  ["no JSON", "{a", { _raw: "{a" }, "bad_request"],
  ["JSON of another kind", "[1]", { _raw: "[1]" }, "bad_request"],
  ["a NUL", '{"a":"\u0000"}', { _raw: '{"a":"\ufffd"}' }, "bad_request"],
  ["something that is not JSON at all", () => 1, { _raw: "" }, "bad_request"],
])("[UTP-10.3-3] arguments that are %s", (_what, given, args, code) => {
  const [call] = read({ name: "a", arguments: given });
  expect(call?.arguments).toEqual(args);
  expect(call?.fault?.code).toBe(code);
});

test.each([
  ["functions.echo", "functions_echo"],
  ["\u001b[31mecho", "__31mecho"],
  ["a\u0000b\ud800", "a_b_"],
  ["x".repeat(129), "x".repeat(64)],
])("[UTP-W35-T2] a name no tool can have (%j) is shown as one that could be, and never called", (given, name) => {
  const [call] = read({ name: given, arguments: {} });
  expect(call).toMatchObject({ name, shown: { function: { name } }, fault: { code: "not_found" } });
});

test("[UTP-W35-T2] arguments too large to be shown together are shown shortened, and called whole", () => {
  const text = "x".repeat(100_000);
  const [first, second, small] = read(
    { name: "a", arguments: { text } },
    { name: "a", arguments: { text } },
    { name: "a", arguments: { n: 1 } },
  );
  expect(first?.arguments).toEqual({ text });
  expect(JSON.stringify([first?.shown, second?.shown]).length).toBeLessThan(100_000);
  expect(first?.shown).toMatchObject({ function: { arguments: expect.stringContaining('{"_shortened":') } });
  expect(small?.shown).toMatchObject({ function: { arguments: '{"n":1}' } });
});

test("[UTP-10.2-12] entries that are not calls are dropped", () => {
  expect(read(null, 7, "x", {}, { name: "" }, { name: "a" }).map(({ name }) => name)).toEqual(["a"]);
});

test("[UTP-10.2-12] whatever a model gives, aliases are distinct and everything can be stored", () => {
  const call = fc.record(
    {
      id: fc.oneof(fc.string(), fc.constantFrom("\ud800", "a\u0000", " "), fc.constant("x")),
      name: fc.string(),
      arguments: fc.oneof(
        fc.jsonValue(),
        fc.constantFrom("{", () => 1, 1n, Symbol.iterator, "\u0000"),
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          call,
          fc.constantFrom(null, 7, [], "x", () => 1),
        ),
        { maxLength: 12 },
      ),
      (given) => {
        const calls = readAskedCalls(given as BrainToolCall[], 1);
        expect(new Set(calls.map(({ alias }) => alias)).size).toBe(calls.length);
        const text = JSON.stringify(calls.map(({ shown, name }) => ({ shown, name })));
        expect(text.isWellFormed() && !text.includes("\\u0000") && !text.includes("\\ud")).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

test("[STALL-9] the arguments of a step are bounded together: what does not fit is refused, and smaller calls after it are made", () => {
  const large = { text: "x".repeat(200_000) };
  const calls = read(...Array.from({ length: 60 }, () => ({ name: "a", arguments: large })), {
    name: "a",
    arguments: {},
  });
  const made = calls.filter(({ fault }) => fault === undefined);
  expect(made.length).toBe(Math.floor(MAX_STEP_BYTES / 200_100) + 1);
  expect(calls.at(-1)?.fault).toBeUndefined();
  const [refused] = calls.filter(({ fault }) => fault !== undefined);
  expect(refused).toMatchObject({ arguments: { _raw: "" }, fault: { code: "payload_too_large" } });
  const asText = read(...Array.from({ length: 60 }, () => ({ name: "a", arguments: JSON.stringify(large) })));
  expect(asText.filter(({ fault }) => fault === undefined).length).toBe(Math.floor(MAX_STEP_BYTES / 200_100));
});
