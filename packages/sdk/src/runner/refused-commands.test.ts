// Commands that are refused, ignored or repeated.

import { HEADERS, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { until } from "../../test/manual-clock.ts";
import { createRunnerWorld } from "../../test/runner-world.ts";
import { sampleCall, TRACE_ID, TRACEPARENT } from "../../test/sample-call.ts";
import { planRefusal } from "./deliver.ts";

const payload = { tool_call_card_id: "card_call_1", tool_name: "count_words", after_execution: "suspend" };

describe("validation failures", () => {
  test("[UTP-8.5-3] [UTP-8.3-2] a payload that carries identity is answered by a failed result; the tool does not run", async () => {
    const world = createRunnerWorld({ calls: [{ payload: { ...payload, agent_id: "somebody" } }], mode: "two-step" });
    const report = await world.runner.handle(world.call.command);
    expect(report).toMatchObject({
      outcome: "settled",
      toolCallId: "call_1",
      status: "failed",
      code: "bad_request",
    });
    expect(world.runs()).toBe(0);
    expect(world.gateway.operations).toEqual(["readCard", "putCard", "report"]);
    expect(world.gateway.cards[0]).toMatchObject({
      author_id: "tool.text",
      metadata: { function_name: "count_words", agent_turn_id: "turn_1", step_id: "step_1", trace_id: TRACE_ID },
      content: {
        status: "failed",
        after_execution: "suspend",
        error: { code: "bad_request", detail: { refused: "protocol_violation" } },
      },
    });
  });

  test("[UTP-8.3-4] missing fields are named, and the call settles in one step too", async () => {
    const world = createRunnerWorld({ calls: [{ payload: { tool_call_card_id: "card_call_1" } }] });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "settled", code: "bad_request" });
    expect(world.gateway.settled[0]).toMatchObject({
      toolCallId: "call_1",
      leaseId: "lease_1",
      status: "failed",
      error: { code: "bad_request", message: expect.stringContaining("tool_name, after_execution") },
    });
  });

  test("[UTP-8.2-5] without a tool name the function name is the card's tool, or the runner's target", async () => {
    const world = createRunnerWorld({ calls: [{ payload: { ...payload, tool_name: "" } }], mode: "two-step" });
    await world.runner.handle(world.call.command);
    expect(world.gateway.cards[0]?.metadata.function_name).toBe("count_words");
    world.gateway.script.readCard = async () => undefined;
    await world.runner.handle(world.call.command);
    expect(world.gateway.cards[1]?.metadata.function_name).toBe("text");
  });

  test("[UTP-8.5-1] [UTP-8.3-6] identity the headers lack comes from the card, never from the payload", async () => {
    const forged = { ...payload, tool_call_id: "call_forged", agent_turn_id: "turn_forged" };
    const headers = { [HEADERS.toolCallId]: undefined, [HEADERS.turnId]: undefined };
    const world = createRunnerWorld({ calls: [{ payload: forged, headers }], mode: "two-step" });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "settled", toolCallId: "call_1" });
    expect(world.gateway.reads).toEqual([{ cardId: "card_call_1", toolCallId: undefined }]);
    expect(world.gateway.cards[0]).toMatchObject({ tool_call_id: "call_1", metadata: { agent_turn_id: "turn_1" } });
    expect(JSON.stringify(world.gateway.cards)).not.toContain("forged");
  });

  test.each([
    ["of another type", { type: "task.context" }],
    ["of another project", { project_id: "else" }],
    ["under another id", { card_id: "card_9" }],
  ])("[UTP-8.5-1] a card %s says nothing about whom to tell", async (_name, change) => {
    const world = createRunnerWorld({ calls: [{ headers: { [HEADERS.toolCallId]: undefined } }] });
    world.gateway.script.readCard = async () => ({ ...world.call.card, ...change });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "returned" });
  });

  test("[UTP-8.5-2] [UTP-8.3-7] without a call id and a turn id there is no result, and the command is given back", async () => {
    const world = createRunnerWorld({ calls: [{ headers: { [HEADERS.turnId]: undefined }, payload: {} }] });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "returned" });
    expect(world.gateway.settled).toEqual([]);
    expect(world.gateway.released).toEqual([{ toolCallId: "call_1", leaseId: "lease_1" }]);
  });

  test("[UTP-8.3-7] a command that cannot be given back either is the deliverer's again", async () => {
    const world = createRunnerWorld({
      calls: [{ headers: { [HEADERS.turnId]: undefined }, payload: {}, leaseId: null }],
    });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "returned" });
    expect(world.gateway.operations).toEqual([]);
  });

  test("[UTP-8.3-3] one that says nothing usable is logged and swallowed", async () => {
    const world = createRunnerWorld({ calls: [{ headers: { [HEADERS.agentId]: undefined } }] });
    expect(await world.runner.handle(world.call.command)).toEqual({ outcome: "swallowed" });
    expect(world.gateway.operations).toEqual([]);
    expect(world.log.entries).toMatchObject([{ level: "error" }]);
  });

  test("[UTP-8.3-1] one for somebody else has no effect; its lease goes back", async () => {
    const world = createRunnerWorld({ calls: [{ subject: "cg.v1r4.demo.public.cmd.tool.other.x" }] });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "ignored" });
    expect(world.gateway.operations).toEqual(["release"]);
  });
});

describe("two steps", () => {
  test("[UTP-8.3-12] [UTP-8.3-13] the card is saved, then the report is sent: by the actor, for the command's turn and call", async () => {
    const world = createRunnerWorld({ mode: "two-step" });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "settled", status: "success" });
    expect(world.gateway.operations).toEqual(["readCard", "putCard", "report"]);
    const [card] = world.gateway.cards;
    const [report] = world.gateway.reports;
    expect(report?.payload).toEqual({
      status: "success",
      after_execution: "suspend",
      tool_result_card_id: card?.card_id,
    });
    expect(report?.source).toMatchObject({
      agentId: "tool.text",
      agentTurnId: "",
      turnEpoch: 0,
      stepId: null,
      toolCallId: null,
    });
    expect(report?.target).toMatchObject({
      agentId: "agent_a",
      agentTurnId: "turn_1",
      turnEpoch: 3,
      toolCallId: "call_1",
    });
    expect(report?.target.headers[HEADERS.traceparent]).not.toBe(TRACEPARENT);
    expect(report?.target.traceId).toBe(TRACE_ID);
    expect(report?.leaseId).toBe("lease_1");
    expect(card?.metadata.definition_hash).toBe("hash_1");
  });

  test("[UTP-8.3-14] a report that could not be sent is sent again, its card only once more if at all", async () => {
    const world = createRunnerWorld({ mode: "two-step" });
    world.gateway.script.report = async (report, count) => {
      if (count < 3) throw new ToolplaneError("upstream_unavailable", "away");
      return { toolResultCardId: report.payload.tool_result_card_id, idempotent: false };
    };
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(2_000);
    expect(await handled).toMatchObject({ outcome: "settled" });
    expect(world.runs()).toBe(1);
    expect(world.gateway.cards).toHaveLength(1);
  });
});

describe("repeated commands", () => {
  test("[UTP-8.6-2] a second delivery while the tool runs joins it: one run, one settlement", async () => {
    let finish: (value: string) => void = () => {};
    const world = createRunnerWorld({
      run: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    const first = world.runner.handle(world.call.command);
    const second = world.runner.handle(world.call.command);
    await until(() => world.runs() === 1, "the tool starts");
    finish("done");
    expect(await first).toMatchObject({ outcome: "settled" });
    expect(await second).toEqual(await first);
    expect(world.runs()).toBe(1);
    expect(world.gateway.settled).toHaveLength(1);
  });

  test("[UTP-8.6-2] after the end too; whatever the repeated payload says", async () => {
    const world = createRunnerWorld({ calls: [{}, { payload: { ...payload, after_execution: "terminate" } }] });
    const [first, second] = world.calls;
    await world.runner.handle(first?.command ?? world.call.command);
    expect(await world.runner.handle(second?.command ?? world.call.command)).toMatchObject({ outcome: "settled" });
    expect(world.runs()).toBe(1);
    expect(world.gateway.settled).toHaveLength(1);
    expect(world.gateway.reports).toEqual([]);
  });

  test("[UTP-8.6-5] [UTP-8.6-2] a service without leases sends its report again: three fields, no result", async () => {
    const world = createRunnerWorld({ mode: "two-step", calls: [{ leaseId: null }] });
    await world.runner.handle(world.call.command);
    await world.runner.handle(world.call.command);
    expect(world.runs()).toBe(1);
    expect(world.gateway.cards).toHaveLength(1);
    expect(world.gateway.reports).toHaveLength(2);
    expect(world.gateway.reports[1]).toEqual(world.gateway.reports[0]);
    expect(Object.keys(world.gateway.reports[1]?.payload ?? {}).sort()).toEqual([
      "after_execution",
      "status",
      "tool_result_card_id",
    ]);
  });

  test("[UTP-8.6-1] equal call ids of different agents never meet", async () => {
    const world = createRunnerWorld({
      run: ({ context }) => context.agentId,
      calls: [{ agentId: "agent_a" }, { agentId: "agent_b" }],
    });
    // Both calls have the same card id in this test, so each brings its own card along.
    for (const { command, card } of world.calls) await world.runner.handle({ ...command, card });
    expect(world.gateway.settled.map(({ result }) => result)).toEqual(["agent_a", "agent_b"]);
  });

  test("[UTP-8.6-S1] the same call under a new lease: the old run is over, the new one runs", async () => {
    const signals: AbortSignal[] = [];
    const finishers: ((value: number) => void)[] = [];
    const world = createRunnerWorld({
      profile: { retry: "safe" },
      run: (_call, { signal }) => {
        signals.push(signal);
        return new Promise((resolve) => finishers.push(resolve));
      },
    });
    const first = world.runner.handle(world.call.command);
    await until(() => world.runs() === 1, "the tool starts");
    const again = sampleCall({ leaseId: "lease_2" }).command;
    const second = world.runner.handle(again);
    await until(() => world.runs() === 2, "the tool starts again");
    expect(signals[0]?.aborted).toBe(true);
    expect(await first).toMatchObject({ outcome: "lost" });
    finishers[0]?.(1);
    finishers[1]?.(2);
    expect(await second).toMatchObject({ outcome: "settled" });
    expect(world.gateway.settled).toMatchObject([{ leaseId: "lease_2", result: 2 }]);
  });
});

test.each([
  ["lease_lost", "lost"],
  ["not_found", "lost"],
  ["canceled", "lost"],
  ["already_settled", "late"],
  ["conflict", "late"],
  ["bad_request", "replace"],
  ["payload_too_large", "replace"],
  ["protocol_violation", "replace"],
  ["unauthorized", "undelivered"],
  ["invalid_source_actor", "undelivered"],
  ["upstream_unavailable", "undelivered"],
] as const)("[UTP-W15-S2] a delivery refused with %s: %s", (code, refusal) => {
  expect(planRefusal(new ToolplaneError(code, ""))).toBe(refusal);
});

test("nothing a gateway does makes the runner reject", async () => {
  const world = createRunnerWorld({ calls: [{ subject: "cg.v1r4.demo.public.cmd.tool.other.x" }] });
  world.gateway.script.release = async () => {
    throw new ToolplaneError("internal_error", "oops");
  };
  expect(await world.runner.handle(world.call.command)).toEqual({ outcome: "undelivered" });
});
