import { describe, expect, test } from "vitest";
import { type ContextFields, createContext, evolveContext } from "./context.ts";

const refused = expect.objectContaining({ code: "protocol_violation" });
const minimal: ContextFields = { projectId: "demo", agentId: "helper" };

describe("a context", () => {
  test("[UTP-3-4] [UTP-1.1-7] needs a project and an agent; the rest has defaults", () => {
    expect(createContext(minimal)).toEqual({
      projectId: "demo",
      channelId: "public",
      agentId: "helper",
      agentTurnId: "",
      turnEpoch: 0,
      recursionDepth: 0,
      stepId: null,
      toolCallId: null,
      traceId: null,
      parentAgentId: null,
      parentAgentTurnId: null,
      parentStepId: null,
      headers: {},
    });
  });

  test("[UTP-3-1] cannot be changed, nor can its headers", () => {
    const headers = { a: "1" };
    const context = createContext({ ...minimal, headers });
    expect(() => Object.assign(context, { agentId: "evil" })).toThrow(TypeError);
    expect(() => Object.assign(context.headers, { a: "2" })).toThrow(TypeError);
    headers.a = "3";
    expect(context.headers).toEqual({ a: "1" });
  });

  test("[UTP-3-2] [UTP-3-4] trims its ids", () => {
    const context = createContext({
      projectId: " demo ",
      agentId: " a ",
      channelId: " ",
      agentTurnId: " t ",
      stepId: " s ",
      toolCallId: "  ",
      traceId: "",
    });
    expect(context).toMatchObject({
      projectId: "demo",
      agentId: "a",
      channelId: "public",
      agentTurnId: "t",
      stepId: "s",
      toolCallId: null,
      traceId: null,
    });
  });

  const missing: readonly Partial<ContextFields>[] = [
    { projectId: "" },
    { projectId: "  " },
    { agentId: "" },
    { agentId: "\t" },
  ];
  test.each(missing)("[UTP-3-2] %j is a violation", (fields) => {
    expect(() => createContext({ ...minimal, ...fields })).toThrow(refused);
  });

  const hostile: readonly Record<string, unknown>[] = [
    { projectId: "a.b" },
    { projectId: "*" },
    { channelId: "a b" },
    { agentId: "a\r\nb" },
    { agentId: "é" },
    { agentId: 7 },
    { stepId: { toString: () => "x" } },
    { toolCallId: "a\0" },
    { parentStepId: "x".repeat(9000) },
  ];
  test.each(hostile)("[UTP-W31] ids that could not be written to a subject or a header are refused: %#", (fields) => {
    expect(() => createContext({ ...minimal, ...fields })).toThrow(refused);
  });

  test("[UTP-3-3] nothing is 0", () => {
    for (const nothing of [null, undefined, "", " "]) {
      expect(createContext({ ...minimal, turnEpoch: nothing, recursionDepth: nothing })).toMatchObject({
        turnEpoch: 0,
        recursionDepth: 0,
      });
    }
    expect(createContext({ ...minimal, turnEpoch: "12", recursionDepth: 3 })).toMatchObject({
      turnEpoch: 12,
      recursionDepth: 3,
    });
  });

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "x", "-1", "1.0"])(
    "[UTP-3-3] %j is a violation",
    (value) => {
      expect(() => createContext({ ...minimal, turnEpoch: value })).toThrow(refused);
      expect(() => createContext({ ...minimal, recursionDepth: value })).toThrow(refused);
    },
  );

  test("[UTP-W01] a depth header is only a copy of the depth", () => {
    const context = createContext({ ...minimal, recursionDepth: 3, headers: { "CG-Recursion-Depth": "9" } });
    expect(context.headers["CG-Recursion-Depth"]).toBe("3");
  });
});

describe("evolving", () => {
  const context = createContext({ ...minimal, stepId: "s", headers: { a: "1" } });

  test("[UTP-3-1] gives a new context and leaves the old one", () => {
    const next = evolveContext(context, { agentId: "other", stepId: null });
    expect(next).toMatchObject({ agentId: "other", stepId: null, projectId: "demo", headers: { a: "1" } });
    expect(context).toMatchObject({ agentId: "helper", stepId: "s" });
    expect(Object.isFrozen(next) && Object.isFrozen(next.headers)).toBe(true);
  });

  test("undefined keeps, null empties", () => {
    expect(evolveContext(context, { stepId: undefined, headers: undefined })).toEqual(context);
    expect(evolveContext(context, { stepId: null, headers: null })).toMatchObject({ stepId: null, headers: {} });
  });

  test("checks what it is given", () => {
    expect(() => evolveContext(context, { agentId: " " })).toThrow(refused);
    expect(() => evolveContext(context, { turnEpoch: -1 })).toThrow(refused);
    expect(() => evolveContext(context, { headers: { a: "é" } })).toThrow(refused);
  });
});
