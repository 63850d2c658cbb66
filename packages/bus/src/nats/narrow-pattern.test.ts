import { matchesPattern, parsePattern } from "@toolplane/protocol";
import { streamPlan } from "@toolplane/protocol/agents";
import fc from "fast-check";
import { expect, test } from "vitest";
import { narrowPattern } from "./narrow-pattern.ts";

const COMMANDS = streamPlan("cmd").filter;

test.each([
  ["cg.>", "cg.v1r4.*.*.cmd.*.*.>"],
  ["cg.v1r4.p.*.cmd.tool.>", "cg.v1r4.p.*.cmd.tool.*.>"],
  ["cg.v1r4.*.*.*.tool.desk.>", "cg.v1r4.*.*.cmd.tool.desk.>"],
  ["cg.v1r4.*.*.cmd.tool.desk.run.more", "cg.v1r4.*.*.cmd.tool.desk.run.more"],
  ["cg.*.p.public.cmd.tool.*.run", "cg.v1r4.p.public.cmd.tool.*.run"],
])("%s lies in the commands as %s", (pattern, narrowed) => {
  expect(narrowPattern(parsePattern(pattern), COMMANDS).text).toBe(narrowed);
});

test.each(["cg.v1r4.*.*.evt.>", "cg.v2.>"])("%s lies outside", (pattern) => {
  expect(() => narrowPattern(parsePattern(pattern), COMMANDS)).toThrow(
    expect.objectContaining({ code: "protocol_violation" }),
  );
});

const token = (values: readonly string[]) => fc.constantFrom(...values);
const tokens = fc.tuple(
  fc.constant("cg"),
  token(["v1r4", "v2", "*"]),
  token(["p", "q", "*"]),
  token(["public", "*"]),
  token(["cmd", "evt", "*"]),
  token(["tool", "sys", "*"]),
  token(["desk", "pmo", "*"]),
);
const patterns = fc.tuple(tokens, token(["run", "*", ">"])).map(([head, last]) => [...head, last].join("."));
const subjects = fc
  .tuple(
    token(["v1r4", "v2"]),
    token(["p", "q"]),
    token(["cmd", "evt"]),
    token(["tool", "sys"]),
    token(["desk", "pmo"]),
  )
  .map(
    ([version, project, category, component, target]) =>
      `cg.${version}.${project}.public.${category}.${component}.${target}.run`,
  );

test("lets through exactly what both let through", () => {
  fc.assert(
    fc.property(patterns, subjects, (text, subject) => {
      const pattern = parsePattern(text);
      const both = matchesPattern(pattern, subject) && matchesPattern(COMMANDS, subject);
      let narrowed: ReturnType<typeof parsePattern> | undefined;
      try {
        narrowed = narrowPattern(pattern, COMMANDS);
      } catch {
        narrowed = undefined;
      }
      expect(narrowed !== undefined && matchesPattern(narrowed, subject)).toBe(both);
    }),
  );
});
