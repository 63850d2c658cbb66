import { describe, expect, test } from "vitest";
import type { Card } from "../cards/card.ts";
import { createToolResultCard } from "../cards/tool-cards.ts";
import type { JsonValue } from "../json/json-value.ts";
import { type ExpectedCall, planReportCheck, type Report, WATCHDOG_ACTOR } from "./report-check.ts";

const lineage = { step_id: "step_1", trace_id: "t".repeat(32), parent_step_id: "step_0" };
const call: ExpectedCall = {
  projectId: "demo",
  subject: "cg.v1r4.demo.public.cmd.tool.text.count",
  agentId: "helper",
  agentTurnId: "turn_1",
  turnEpoch: 3,
  stepId: "step_1",
  toolCallId: "tc_1",
  recursionDepth: 2,
  headers: {},
  traceId: "a".repeat(32),
  toolName: "count",
  actors: ["tool.text", WATCHDOG_ACTOR],
  afterExecution: "suspend",
  lineage,
};
const success = {
  __type__: "ToolResultContent",
  status: "success",
  after_execution: "suspend",
  result: null,
  error: null,
} as const;
const card = createToolResultCard({
  cardId: "r1",
  projectId: "demo",
  createdAt: "2026-01-02T03:04:05.000Z",
  authorId: "tool.text",
  agentTurnId: "turn_1",
  toolCallId: "tc_1",
  functionName: "count",
  content: success,
  lineage,
});
const payload = { status: "success", after_execution: "suspend", tool_result_card_id: "r1" };
const report: Report = {
  payload,
  toolCallId: "tc_1",
  sourceActor: "tool.text",
  sourceProjectId: "demo",
  headers: { "CG-Turn-Id": "turn_1" },
};

const verdict = (change: {
  report?: Partial<Report>;
  card?: Partial<Card> | null;
  call?: Partial<ExpectedCall>;
}): string => {
  const given = change.card === null ? undefined : { ...card, ...change.card };
  const result = planReportCheck({ ...report, ...change.report }, given, { ...call, ...change.call });
  return result.ok ? "ok" : result.error.code;
};
const meta = (change: Record<string, JsonValue>): { card: Partial<Card> } => ({
  card: { metadata: { ...card.metadata, ...change } },
});
const body = (change: Record<string, unknown>): { report: Partial<Report> } => ({
  report: { payload: { ...payload, ...change } },
});

describe("a report may settle a call", () => {
  test("[UTP-6.5-C1] only when everything agrees; the verdict gives the payload and the card", () => {
    expect(planReportCheck(report, card, call)).toEqual({ ok: true, payload, card });
  });

  const refusals: readonly [string, Parameters<typeof verdict>[0], string][] = [
    ["[UTP-6.5-C2] the pointer is blank", body({ tool_result_card_id: " " }), "protocol_violation"],
    ["[UTP-6.5-C3] the card does not exist", { card: null }, "protocol_violation"],
    ["[SEC-3-C1] the card is another project's", { card: { project_id: "other" } }, "protocol_violation"],
    ["[UTP-6.5-C3] the card is not the one pointed to", { card: { card_id: "r2" } }, "protocol_violation"],
    ["[UTP-6.5-C4] the card is not a tool.result", { card: { type: "task.deliverable" } }, "protocol_violation"],
    ["[UTP-6.5-C5] the card is for another call", { card: { tool_call_id: "tc_2" } }, "protocol_violation"],
    [
      "[UTP-6.5-C5] its metadata is for another call",
      { card: { tool_call_id: null, metadata: { ...card.metadata, tool_call_id: "tc_2" } } },
      "protocol_violation",
    ],
    ["[UTP-6.5-C6] the author is not the reporter", { card: { author_id: "tool.other" } }, "protocol_violation"],
    ["[UTP-6.5-C7] no function is named", meta({ function_name: " " }), "protocol_violation"],
    ["[SEC-3-C2] the function is not the call's tool", meta({ function_name: "other" }), "protocol_violation"],
    [
      "[SEC-3-C3] the content is not a ToolResultContent",
      { card: { content: { __type__: "TextContent", text: "x" } } },
      "protocol_violation",
    ],
    ["[SEC-3-C4] the card is another turn's", meta({ agent_turn_id: "turn_2" }), "protocol_violation"],
    ["[SEC-3-C5] the step is not the call's", meta({ step_id: "step_2" }), "protocol_violation"],
    ["[SEC-3-C5] the trace is not the call's", meta({ trace_id: "x" }), "protocol_violation"],
    [
      "[SEC-3-C5] the parent step is missing",
      { call: { lineage: { ...lineage, parent_step_id: "step_x" } } },
      "protocol_violation",
    ],
    [
      "[SEC-3-C6] the actor is not the one the command was sent to",
      { report: { sourceActor: "tool.other" } },
      "invalid_source_actor",
    ],
    ["[SEC-3-C6] there is no actor", { report: { sourceActor: "" } }, "protocol_violation"],
    ["[SEC-3-C7] the reporter is of another project", { report: { sourceProjectId: "other" } }, "protocol_violation"],
    ["[SEC-3-C8] the report is for another call", { report: { toolCallId: "tc_2" } }, "protocol_violation"],
    [
      "[SEC-3-C8] the report is for another turn",
      { report: { headers: { "CG-Turn-Id": "turn_2" } } },
      "protocol_violation",
    ],
    ["[SEC-3-C9] callback and card disagree about the status", body({ status: "failed" }), "protocol_violation"],
    ["[SEC-3-C10] the status is not one of the five", body({ status: "done" }), "invalid_status"],
    ["[INV-I11-C3] the callback changes after_execution", body({ after_execution: "terminate" }), "protocol_violation"],
    [
      "[INV-I11-C3] the card changes after_execution",
      { card: { content: { ...success, after_execution: "terminate" } } },
      "protocol_violation",
    ],
    [
      "[INV-I11-C3] both change it",
      { ...body({ after_execution: "terminate" }), card: { content: { ...success, after_execution: "terminate" } } },
      "protocol_violation",
    ],
    [
      "[SEC-3-C11] after_execution is not a word of the protocol",
      body({ after_execution: "later" }),
      "invalid_after_execution",
    ],
    ["[SEC-3-C12] the result is inline", body({ result: {} }), "protocol_violation"],
    ["[SEC-3-C13] the payload carries identity", body({ agent_id: "x" }), "protocol_violation"],
    ["the payload is not an object", { report: { payload: "x" } }, "protocol_violation"],
  ];
  test.each(refusals)("%s", (_name, change, code) => {
    expect(verdict(change)).toBe(code);
  });

  test("[UTP-6.5-C8] the watchdog signs its cards with another name than it reports under, and nobody else does", () => {
    expect(verdict({ report: { sourceActor: WATCHDOG_ACTOR }, card: { author_id: "worker.watchdog" } })).toBe("ok");
    expect(verdict({ card: { author_id: "worker.watchdog" } })).toBe("protocol_violation");
    expect(verdict({ report: { sourceActor: WATCHDOG_ACTOR }, card: { author_id: "tool.text" } })).toBe(
      "protocol_violation",
    );
  });

  test("[UTP-6.5-C9] the call may be named in metadata alone", () => {
    expect(verdict({ card: { tool_call_id: null } })).toBe("ok");
  });

  test("[UTP-D11-C1] [UTP-D12-C2] an override inside the result is not a change of after_execution", () => {
    expect(
      verdict({ card: { content: { ...success, result: { __cg_control: { after_execution: "terminate" } } } } }),
    ).toBe("ok");
  });
});
