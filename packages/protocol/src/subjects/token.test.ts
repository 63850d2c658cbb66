import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { actorToken, durableLabel, isToken, isTrustedActor, parseToken, streamToken } from "./token.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const anyChar = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const NOT_TOKENS = [
  "",
  ".",
  "a.b",
  "*",
  ">",
  "a*",
  "a b",
  " a",
  "a\t",
  "a\n",
  "a\0",
  "é",
  "ａ",
  "a/b",
  "{agent_id}",
  "\u200b",
];

describe("tokens", () => {
  test.each(["a", "A-Z_09", "u_1", "-", "_", "constructor"])("%s is a token", (text) => {
    expect(isToken(text)).toBe(true);
    expect(parseToken(text, "x")).toBe(text);
  });

  test.each([...NOT_TOKENS, null, 3])("[SEC-1-1] %j is not a token", (value) => {
    expect(isToken(value)).toBe(false);
    expect(() => parseToken(value, "agent_id")).toThrow(refused);
  });

  test("[SEC-1-1] the refusal names the part and does not repeat the value", () => {
    expect(() => parseToken("a.secret", "agent_id")).toThrow(/^agent_id is not one subject token/);
  });
});

describe("labels", () => {
  const cases = [
    ["worker_generic", "worker_generic"],
    ["a.b", "a_b"],
    ["a..b", "a_b"],
    ["a. *>b", "a_b"],
    [".a.", "_a_"],
    ["", "_"],
    ["...", "_"],
    ["größe", "gr_e"],
    ["a_.b", "a__b"],
  ] as const;
  test.each(cases)("[UTP-1.1-11] %j becomes %j", (text, label) => {
    expect(durableLabel(text)).toBe(label);
  });

  test("[UTP-1.1-11] every label is a token, and stays itself", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyChar }), (text) => {
        const label = durableLabel(text);
        expect(isToken(label)).toBe(true);
        expect(durableLabel(label)).toBe(label);
      }),
    );
  });
});

describe("actors", () => {
  test("[API-5-10] tool.text is the gateway token text", () => {
    expect(actorToken("tool.text")).toBe("text");
    expect(actorToken("text")).toBe("text");
  });

  test.each(["tool.", "tool.a.b", "sys.pmo", "tool.*", ""])("[API-5-10] %j has no gateway token", (actor) => {
    expect(() => actorToken(actor)).toThrow(refused);
  });

  test("sys. and tool. ids are trusted actors, the bare prefix is not", () => {
    expect(["sys.api", "tool.text", "sys.", "tool.", "system", "helper"].map(isTrustedActor)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  test("a dotted actor streams under its label, an agent under its own id", () => {
    expect(streamToken("sys.api")).toBe("sys_api");
    expect(streamToken("helper")).toBe("helper");
    expect(() => streamToken("a.b")).toThrow(refused);
  });
});
