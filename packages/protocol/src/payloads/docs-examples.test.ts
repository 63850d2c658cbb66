// The examples of docs/reference/cards-and-payloads.md are read by the code they describe.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Card, parseWritableCard } from "../cards/card.ts";
import { toolResultContentSchema } from "../cards/content.ts";
import { copyLineage } from "../cards/lineage.ts";
import { ERROR_CODES } from "../errors/error-table.ts";
import { CONTROL_FIELDS } from "../headers/control-fields.ts";
import { parseHostLine } from "../host/host-message.ts";
import { HOST_PARAMS } from "../host/host-methods.ts";
import { planReportCheck } from "../results/report-check.ts";
import { parseCommandPayload } from "./command.ts";

const page = readFileSync(
  join(import.meta.dirname, "..", "..", "..", "..", "docs", "reference", "cards-and-payloads.md"),
  "utf8",
);
const blocks = page.split("```");
const examples = blocks
  .filter((block, index) => index % 2 === 1 && block.startsWith("json\n"))
  .map((block) => JSON.parse(block.slice("json\n".length)) as Record<string, unknown>);
const find = (key: string, value?: unknown): Record<string, unknown> =>
  examples.find((example) => Object.hasOwn(example, key) && (value === undefined || example[key] === value)) ?? {};

describe("the page for other languages", () => {
  const call = parseWritableCard(find("type", "tool.call"));
  const result: Card = parseWritableCard(find("type", "tool.result"));

  test("its walk of a call is accepted from the command to the report", () => {
    const command = parseCommandPayload(find("tool_call_card_id"), { strict: true });
    expect(command.tool_call_card_id).toBe(call.card_id);
    const verdict = planReportCheck(
      {
        payload: find("tool_result_card_id"),
        toolCallId: "tc_01",
        sourceActor: "tool.text",
        sourceProjectId: "demo",
        headers: { "CG-Turn-Id": "turn_01" },
      },
      result,
      {
        projectId: "demo",
        subject: "cg.v1r4.demo.public.cmd.tool.text.count_words",
        agentId: "helper",
        agentTurnId: "turn_01",
        turnEpoch: 1,
        stepId: "step_01",
        recursionDepth: 0,
        headers: {},
        traceId: "a".repeat(32),
        toolCallId: "tc_01",
        toolName: command.tool_name,
        actors: ["tool.text"],
        afterExecution: command.after_execution,
        lineage: copyLineage(call.metadata),
      },
    );
    expect(verdict).toMatchObject({ ok: true });
  });

  test("its failed result is valid", () => {
    expect(toolResultContentSchema.parse(find("__type__", "ToolResultContent"))).toMatchObject({ status: "failed" });
  });

  test("its host lines are read", () => {
    const lines = page.split("\n").filter((line) => line.startsWith("-> ") || line.startsWith("<- "));
    expect(lines.map((line) => parseHostLine(line.slice(3)).kind)).toEqual([
      "request",
      "response",
      "request",
      "event",
      "response",
      "response",
    ]);
  });

  test("it names every host method and every identity field", () => {
    for (const method of Object.keys(HOST_PARAMS)) expect(page).toContain(method);
    for (const field of CONTROL_FIELDS) expect(page).toContain(`\`${field}\``);
  });

  test("the error codes it names exist", () => {
    const named = [
      "invalid_status",
      "invalid_source_actor",
      "invalid_after_execution",
      "protocol_violation",
      "bad_request",
      "conflict",
      "tool_error",
      "unknown_error",
      "error_not_serializable",
      "result_not_serializable",
      "result_too_large",
    ];
    for (const code of named) {
      expect(page).toContain(`\`${code}\``);
      expect(ERROR_CODES).toContain(code);
    }
  });
});
