// A loop of one's own, made of the subpath's pieces alone.

import { describe, expect, test } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { countingIds, sampleCall, TRACE_ID, TRACEPARENT } from "../../test/sample-call.ts";
import { createScriptedGateway } from "../../test/scripted-gateway.ts";
import * as sdk from "../index.ts";
import * as pieces from "../protocol.ts";

const { buildFailure, buildResult, createResultContext, HEADERS, hydrate, planCommand, reportResult } = pieces;

const walk = async (work: (args: unknown) => unknown, putCard?: () => never) => {
  const call = sampleCall();
  const clock = createManualClock();
  const gateway = createScriptedGateway({
    clock,
    calls: [call],
    ...(putCard === undefined ? {} : { script: { putCard } }),
  });
  const ids = countingIds();
  const plan = planCommand(call.command, { projectId: "demo", target: "text" }, ids);
  if (plan.kind !== "accept") throw new Error(plan.kind);
  const { context, payload, toolCallId } = plan;
  const found = await gateway.readCard({ cardId: payload.tool_call_card_id, toolCallId });
  const { card, arguments: args } = hydrate({ found, context, payload, toolCallId });
  const origin = createResultContext({
    context,
    command: payload,
    card,
    actor: "tool.text",
    cardId: "card_r",
    createdAt: "2026-11-15T00:00:00.000Z",
  });
  let result: pieces.BuiltResult;
  try {
    result = buildResult(origin, { status: "success", result: work(args) });
  } catch (error) {
    result = buildFailure(origin, error);
  }
  const settled = await reportResult(gateway, { result, context, actor: "tool.text", ids, leaseId: "lease_1" });
  return { gateway, settled };
};

describe("a loop of one's own", () => {
  test("[API-6-7] context, card, result builder and report are enough to serve a call", async () => {
    const { gateway, settled } = await walk((args) => args);
    expect(settled).toEqual({ toolResultCardId: "card_r", idempotent: false });
    expect(gateway.operations).toEqual(["readCard", "putCard", "report"]);
    expect(gateway.cards[0]).toMatchObject({
      author_id: "tool.text",
      content: { status: "success", after_execution: "suspend", result: { text: "one two three" } },
      metadata: { function_name: "count_words", step_id: "step_1", trace_id: TRACE_ID, parent_step_id: "step_0" },
    });
    const [report] = gateway.reports;
    expect(report?.payload).toEqual({ status: "success", after_execution: "suspend", tool_result_card_id: "card_r" });
    expect(report?.source).toMatchObject({ agentId: "tool.text", agentTurnId: "", stepId: null });
    expect(report?.target.headers[HEADERS.traceparent]).not.toBe(TRACEPARENT);
    expect(report?.leaseId).toBe("lease_1");
  });

  test("[DOOR-2-4] a card that another process was first with is reported instead of a second one", async () => {
    const first = { tool_result_card_id: "card_first", status: "partial" };
    const { gateway, settled } = await walk(
      (args) => args,
      () => {
        throw new pieces.ToolplaneError("conflict", "the call has a result card already", { detail: first });
      },
    );
    expect(gateway.cards).toHaveLength(1);
    expect(gateway.reports[0]?.payload).toEqual({ ...first, after_execution: "suspend" });
    expect(settled.toolResultCardId).toBe("card_first");
  });

  test("[DOOR-2-4] any other refusal of a card is the caller's to see", async () => {
    const refuse = (): never => {
      throw new pieces.ToolplaneError("conflict", "the card exists with other content");
    };
    await expect(walk((args) => args, refuse)).rejects.toMatchObject({ code: "conflict" });
  });

  test("[API-6-7] a failure is reported the same way", async () => {
    const { gateway } = await walk(() => {
      throw new pieces.ToolplaneError("tool_error", "no");
    });
    expect(gateway.reports[0]?.payload.status).toBe("failed");
    expect(gateway.cards[0]?.content).toMatchObject({ error: { code: "tool_error", message: "no" } });
  });
});

test("[API-6-7] authors who do not ask see none of it", () => {
  const lowLevel = ["ingress", "buildResult", "egress", "createContext", "parseCommandPayload", "reportResult"];
  for (const name of lowLevel) {
    expect(pieces).toHaveProperty(name);
    expect(sdk).not.toHaveProperty(name);
  }
  expect(sdk).toHaveProperty("defineTool");
  expect(sdk).toHaveProperty("serveTools");
});
