import { describe, expect, test } from "vitest";
import { parseSubject } from "../subjects/subject.ts";
import { mandatoryHeaders, missingHeaders, requireHeaders } from "./mandatory.ts";

const subject = (rest: string) => parseSubject(`cg.v1r4.demo.public.${rest}`);

describe("mandatory headers", () => {
  const cases = [
    ["[UTP-2.2-3]", "cmd.agent.pool.wakeup", ["traceparent", "CG-Agent-Id"]],
    ["[UTP-2.2-4]", "cmd.tool.text.run", ["traceparent", "CG-Agent-Id", "CG-Turn-Id", "CG-Tool-Call-Id"]],
    ["[UTP-2.2-4]", "cmd.sys.pmo.internal.fork_join", ["traceparent", "CG-Agent-Id", "CG-Turn-Id", "CG-Tool-Call-Id"]],
    ["[UTP-2.2-5]", "cmd.sys.ui.action", ["traceparent", "CG-Agent-Id", "CG-Turn-Id"]],
    ["[UTP-2.2-1]", "cmd.sys.judge.retry", ["traceparent"]],
    ["[UTP-2.2-1]", "evt.agent.helper.task", ["traceparent"]],
    ["[UTP-2.2-1]", "evt.sys.ui.marker", ["traceparent"]],
    ["[UTP-2.2-6]", "str.agent.helper.chunk", []],
    ["[UTP-2.2-6]", "str.agent.helper.part", []],
    ["[API-5-10]", "rpc.gateway.text.settle", ["CG-Agent-Id"]],
  ] as const;
  test.each(cases)("%s %s", (_id, rest, expected) => {
    expect(mandatoryHeaders(subject(rest))).toEqual(expected);
  });

  test("[UTP-2.2-4] a blank header is a missing one, and the refusal lists all of them", () => {
    const headers = { traceparent: "t", "CG-Agent-Id": "helper", "CG-Turn-Id": " " };
    const command = subject("cmd.tool.text.run");
    expect(missingHeaders(command, headers)).toEqual(["CG-Turn-Id", "CG-Tool-Call-Id"]);
    expect(() => requireHeaders(command, headers)).toThrow(
      expect.objectContaining({ code: "protocol_violation", detail: { missing: ["CG-Turn-Id", "CG-Tool-Call-Id"] } }),
    );
    expect(() => requireHeaders(command, { ...headers, "CG-Turn-Id": "t", "CG-Tool-Call-Id": "c" })).not.toThrow();
  });
});
