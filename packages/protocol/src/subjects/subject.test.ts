import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isToolplaneError } from "../errors/toolplane-error.ts";
import {
  CATEGORIES,
  formatSubject,
  MAX_SUBJECT_LENGTH,
  parseSubject,
  type Subject,
  tryParseSubject,
} from "./subject.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const COMMAND = "cg.v1r4.demo.public.cmd.tool.text.run";
const command: Subject = {
  version: "v1r4",
  projectId: "demo",
  channelId: "public",
  category: "cmd",
  component: "tool",
  target: "text",
  suffix: "run",
};

const anyChar = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const token = fc.string({
  unit: fc.constantFrom(..."ABCXYZabcxyz0189_-"),
  minLength: 1,
  maxLength: 12,
});
const subjects = fc
  .record({
    version: token,
    projectId: token,
    channelId: token,
    category: fc.constantFrom(...CATEGORIES),
    component: fc.constantFrom("agent", "sys", "tool", "user"),
    target: token,
    suffix: fc.array(token, { minLength: 1, maxLength: 4 }).map((tokens) => tokens.join(".")),
  })
  .map((subject): Subject => (subject.category === "rpc" ? { ...subject, component: "gateway" } : subject));

describe("parsing", () => {
  test("[UTP-1.1-1] eight tokens behind cg make a subject", () => {
    expect(parseSubject(COMMAND)).toEqual(command);
  });

  test("[UTP-1.1-2] what follows the target is the suffix, dots included", () => {
    const subject = parseSubject("cg.v1r4.p.c.cmd.sys.pmo.internal.fork_join");
    expect(subject).toMatchObject({ target: "pmo", suffix: "internal.fork_join" });
    expect(parseSubject("cg.v1r4.p.c.cmd.tool.t.a.b.c.d").suffix).toBe("a.b.c.d");
  });

  const malformed: readonly (readonly [string, unknown])[] = [
    ["nothing", ""],
    ["no string", undefined],
    ["seven tokens", "cg.v1r4.p.c.cmd.tool.text"],
    ["another first token", "ng.v1r4.p.c.cmd.tool.text.run"],
    ["a first token that only begins with cg", "cgx.v1r4.p.c.cmd.tool.text.run"],
    ["a subject in upper case", "CG.v1r4.p.c.cmd.tool.text.run"],
  ];
  test.each(malformed)("[UTP-1.1-1] [UTP-1.1-3] %s is not a subject", (_name, text) => {
    expect(tryParseSubject(text)).toBeUndefined();
    expect(() => parseSubject(text)).toThrow(refused);
  });

  const loose = [
    ["an empty project", "cg.v1r4..public.cmd.tool.text.run"],
    ["an empty suffix", "cg.v1r4.demo.public.cmd.tool.text."],
    ["an empty token in the suffix", "cg.v1r4.demo.public.cmd.tool.text.a..b"],
    ["a trailing dot", `${COMMAND}.`],
    ["a leading dot", `.${COMMAND}`],
    ["a star", "cg.v1r4.*.public.cmd.tool.text.run"],
    ["a star in the suffix", "cg.v1r4.demo.public.cmd.tool.text.*"],
    ["a tail wildcard", "cg.v1r4.demo.public.cmd.tool.text.>"],
    ["a blank", "cg.v1r4.de mo.public.cmd.tool.text.run"],
    ["a tab", "cg.v1r4.demo.public.cmd.tool.text.run\t"],
    ["a line break", "cg.v1r4.demo.public.cmd.tool.text.run\r\nPUB x"],
    ["a control character", "cg.v1r4.demo.public.cmd.tool.text.\0"],
    ["a letter beyond ASCII", "cg.v1r4.démo.public.cmd.tool.text.run"],
    ["a full-width dot", "cg.v1r4.demo.public.cmd.tool.text．x"],
    ["an unexpanded placeholder", "cg.v1r4.{project_id}.public.cmd.tool.text.run"],
  ] as const;
  test.each(loose)("[UTP-1.1-4] [UTP-W31] [SEC-1-1] %s is refused", (_name, text) => {
    expect(tryParseSubject(text)).toBeUndefined();
    expect(() => parseSubject(text)).toThrow(refused);
  });

  const strangers = [
    "cg.v1r4.demo.public.job.tool.text.run",
    "cg.v1r4.demo.public.CMD.tool.text.run",
    "cg.v1r4.demo.public.cmd.robot.text.run",
    "cg.v1r4.demo.public.cmd.gateway.text.run",
    "cg.v1r4.demo.public.rpc.tool.text.lease",
  ];
  test.each(strangers)("[UTP-1.1-6] %s has no known category and component", (text) => {
    expect(() => parseSubject(text)).toThrow(refused);
  });

  test("[UTP-1.1-6] each category is known with a component of its own", () => {
    for (const pair of [
      "cmd.agent",
      "cmd.sys",
      "cmd.tool",
      "cmd.user",
      "evt.agent",
      "evt.sys",
      "str.agent",
      "rpc.gateway",
    ]) {
      expect(tryParseSubject(`cg.v1r4.demo.public.${pair}.x.y`), pair).toBeDefined();
    }
  });

  test("a subject that would break a NATS connection is refused", () => {
    const rest = "cg.v1r4.demo.public.cmd.tool.text.";
    expect(tryParseSubject(rest + "a".repeat(MAX_SUBJECT_LENGTH - rest.length))).toBeDefined();
    expect(tryParseSubject(rest + "a".repeat(MAX_SUBJECT_LENGTH - rest.length + 1))).toBeUndefined();
  });
});

describe("formatting", () => {
  test("[UTP-1.1-12] parse(format(x)) is x", () => {
    fc.assert(
      fc.property(subjects, (subject) => {
        expect(parseSubject(formatSubject(subject))).toEqual(subject);
      }),
    );
  });

  test("[UTP-1.1-3] any text either parses and formats back to itself, or is refused", () => {
    const pieces = fc.array(fc.constantFrom("cg", "v1r4", "cmd", "tool", "agent", ".", "..", "*", ">", "a", " ", "é"), {
      maxLength: 24,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anyChar }),
          pieces.map((list) => list.join("")),
          subjects.map(formatSubject),
        ),
        (text) => {
          const subject = tryParseSubject(text);
          if (subject !== undefined) expect(formatSubject(subject)).toBe(text);
          else expect(() => parseSubject(text)).toThrow(refused);
        },
      ),
      { numRuns: 2000 },
    );
  });

  const parts = ["version", "projectId", "channelId", "target", "suffix"] as const;
  test.each(parts)("[SEC-1-1] [UTP-W31] %s cannot bring in a dot, a wildcard or a blank", (part) => {
    for (const bad of ["", "*", ">", "a b", "a\nb", "é", "a..b", ".a", ...(part === "suffix" ? [] : ["a.b"])]) {
      expect(() => formatSubject({ ...command, [part]: bad }), bad).toThrow(refused);
    }
  });

  test("[SEC-1-1] whatever the parts are, the outcome keeps them apart", () => {
    const anyPart = fc.oneof(
      fc.string({ unit: anyChar, maxLength: 6 }),
      token,
      fc.constantFrom("a.b", "x.cmd.tool", "*"),
    );
    fc.assert(
      fc.property(anyPart, anyPart, anyPart, anyPart, (projectId, channelId, target, suffix) => {
        const subject: Subject = { ...command, projectId, channelId, target, suffix };
        try {
          expect(parseSubject(formatSubject(subject))).toEqual(subject);
        } catch (error) {
          if (!isToolplaneError(error)) throw error;
        }
      }),
      { numRuns: 2000 },
    );
  });
});
