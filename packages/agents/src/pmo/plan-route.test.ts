import { derivedUuid } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import { PMO_TOOL_NAMES } from "@toolplane/protocol/registry";
import { ToolError } from "@toolplane/sdk";
import { describe, expect, test } from "vitest";
import { planRoute, type RoutedCall } from "./plan-route.ts";
import { derivedAgentId } from "./pmo-call.ts";

const SUBJECT = "cg.v1r4.demo.public.cmd.sys.pmo.internal";
const CALL: RoutedCall = { toolName: "fork_join", subject: `${SUBJECT}.fork_join`, afterExecution: "suspend" };
const DEFINITION = { tool_name: "fork_join", after_execution: "suspend" } as const;

const codeOf = (change: Partial<RoutedCall>, definition: typeof DEFINITION | undefined = DEFINITION): string => {
  try {
    return planRoute({ ...CALL, ...change }, definition);
  } catch (error) {
    if (error instanceof ToolError || isToolplaneError(error)) return error.code;
    throw error;
  }
};

describe("the route of a command", () => {
  test.each(PMO_TOOL_NAMES)("%s goes to its tool", (toolName) => {
    const definition = { tool_name: toolName, after_execution: "suspend" } as const;
    expect(planRoute({ ...CALL, toolName, subject: `${SUBJECT}.${toolName}` }, definition)).toBe(toolName);
  });

  test("[UTP-11.1-2] a tool without a definition is tool_definition_missing", () => {
    expect(() => planRoute(CALL, undefined)).toThrow(expect.objectContaining({ code: "tool_definition_missing" }));
  });

  test.each<[string, string, Partial<RoutedCall>]>([
    ["[UTP-11.1-3] another after_execution", "after_execution_mismatch", { afterExecution: "terminate" }],
    [
      "[UTP-11.1-4] another suffix",
      "unsupported_pmo_route",
      { subject: "cg.v1r4.demo.public.cmd.sys.pmo.public.fork_join" },
    ],
    ["[UTP-11.1-4] no function", "unsupported_pmo_route", { subject: "cg.v1r4.demo.public.cmd.sys.pmo.internal" }],
    ["[UTP-11.1-4] a deeper suffix", "unsupported_pmo_route", { subject: `${SUBJECT}.fork_join.now` }],
    ["[UTP-11.1-4] no subject", "unsupported_pmo_route", { subject: undefined }],
    ["[UTP-11.1-4] an unknown function", "not_implemented", { subject: `${SUBJECT}.dismiss_agent` }],
    ["[UTP-11.1-7] the subject of another tool", "bad_request", { subject: `${SUBJECT}.delegate_async` }],
  ])("%s is %s", (_name, code, change) => {
    expect(codeOf(change)).toBe(code);
  });
});

describe("ids of what a call makes", () => {
  const sha256 = (text: string): string =>
    text
      .padEnd(64, "0")
      .slice(0, 64)
      .replaceAll(/[^0-9a-f]/g, "a");

  test("[UTP-W27-R2] the same for the same call and part, others for others, and as old as the call", () => {
    const call = "019a8000000070008000000000000000";
    const one = derivedUuid(call, "0", sha256);
    expect(one).toBe(derivedUuid(call, "0", sha256));
    expect(one).toHaveLength(32);
    expect(one.slice(0, 16)).toBe(call.slice(0, 16));
    expect(derivedUuid("call_7", "0", sha256)).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}8[0-9a-f]{15}$/);
    expect(derivedAgentId("ABC", one)).toBe(`abc_${one}`);
  });
});
