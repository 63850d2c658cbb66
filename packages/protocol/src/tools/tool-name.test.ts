import fc from "fast-check";
import { expect, test } from "vitest";
import { foldName, MAX_NAME_LENGTH } from "./fold-name.ts";
import {
  isReservedToolName,
  isToolName,
  PMO_TOOL_NAMES,
  parseToolName,
  READ_CARD,
  SUBMIT_RESULT,
} from "./tool-name.ts";

const RESERVED = [...PMO_TOOL_NAMES, SUBMIT_RESULT, READ_CARD];

test("[UTP-5.2-9] the reserved names are the five of the project manager and the two of the worker", () => {
  expect([...RESERVED].sort()).toEqual([
    "ask_expert",
    "delegate_async",
    "fork_join",
    "launch_principal",
    "provision_agent",
    "read_card",
    "submit_result",
  ]);
});

test("[SEC-1-R2] no mixture of case, width and blanks makes a reserved name registrable", () => {
  const fullWidth = (char: string): string =>
    /[a-z]/.test(char) ? String.fromCodePoint(char.charCodeAt(0) + 0xfee0) : char;
  const spelling = fc
    .tuple(
      fc.constantFrom(...RESERVED),
      fc.array(fc.nat(2), { minLength: 20, maxLength: 20 }),
      fc.constantFrom("", " ", "\t"),
    )
    .map(
      ([name, choice, pad]) =>
        pad +
        [...name]
          .map((char, i) => (choice[i] === 0 ? char : choice[i] === 1 ? char.toUpperCase() : fullWidth(char)))
          .join("") +
        pad,
    );
  fc.assert(
    fc.property(spelling, (name) => {
      expect(isReservedToolName(name)).toBe(true);
      expect(() => parseToolName(name)).toThrow("reserved");
    }),
  );
});

test("[API-3-R1] what parseToolName returns is always a tool name", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^ ?[A-Za-z0-9_-]{0,66} ?$/)), (text) => {
      let name: string;
      try {
        name = parseToolName(text);
      } catch {
        return;
      }
      expect(isToolName(name)).toBe(true);
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    }),
  );
});

test.each([
  ["Straße", "STRASSE"],
  ["ﬁle", "FILE"],
  [" Assistant ", "assistant"],
  ["ｉｄ", "ID"],
  ["ıd", "id"],
  ["İD", "id"],
])("foldName joins %j and %j", (a, b) => {
  expect(foldName(a)).toBe(foldName(b));
});

test("[SEC-8-8] comparing names takes no longer for a long run of combining marks than for any other text", () => {
  // Marks of two classes in turn, which normalisation has to sort: 100,000 of them took 14 seconds.
  const hostile = `a${"\u0301\u0323".repeat(50_000)}`;
  const began = process.cpuUsage();
  expect(isReservedToolName(hostile)).toBe(false);
  expect(() => parseToolName(hostile)).toThrow("1 to 64");
  expect(process.cpuUsage(began).user).toBeLessThan(1000_000);
});

test("foldName joins spellings of the longest name that is compared, however they are decomposed", () => {
  const name = "\u1f82".repeat(MAX_NAME_LENGTH);
  const decomposed = name.normalize("NFD");
  expect(decomposed.length).toBe(4 * MAX_NAME_LENGTH);
  expect(foldName(`${" ".repeat(10_000)}${decomposed}`)).toBe(foldName(name));
});
