import { expect, test } from "vitest";
import { readLoginState, tryParseAnswer } from "./login-state.ts";

const authentication = (kind: number): Buffer => Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, kind]);
const error = (sqlstate: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlstate}\0Mno\0\0`);
  const head = Buffer.from([0x45, 0, 0, 0, 4 + fields.length]);
  return Buffer.concat([head, fields]);
};

test.each([
  ["let in", authentication(0), "open"],
  ["asked for SCRAM", authentication(10), "closed"],
  ["asked for a plain password", authentication(3), "closed"],
  ["no such login", error("28000"), "closed"],
  ["starting", error("57P03"), "away"],
  ["too many connections", error("53300"), "away"],
  ["half an answer", authentication(0).subarray(0, 6), undefined],
  ["half an error", error("57P03").subarray(0, 12), undefined],
  ["nothing", Buffer.alloc(0), undefined],
])("%s", (_what, answer, state) => {
  expect(tryParseAnswer(answer)).toBe(state);
});

test("where no server listens there is none", async () => {
  expect(await readLoginState("/nonexistent", 5432, "x")).toBe("away");
});
