// The walk of one call through the runner, when everything is well and when the tool or the card is not.

import { HEADERS, parseTraceparent, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createRunnerWorld } from "../../test/runner-world.ts";
import { TRACE_ID, TRACEPARENT } from "../../test/sample-call.ts";
import { ToolError } from "../tools/tool-error.ts";
import { toolResult } from "../tools/tool-result.ts";
import type { ExecuteContext, ToolCall } from "./executor.ts";

describe("a call that goes well", () => {
  test("[UTP-8.3-8] the card is read, the tool runs once, the result is settled once under the lease", async () => {
    const world = createRunnerWorld();
    const report = await world.runner.handle(world.call.command);
    expect(report).toEqual({
      outcome: "settled",
      toolCallId: "call_1",
      toolName: "count_words",
      status: "success",
      code: undefined,
    });
    expect(world.gateway.operations).toEqual(["readCard", "settle"]);
    expect(world.gateway.reads).toEqual([{ cardId: "card_call_1", toolCallId: "call_1" }]);
    expect(world.gateway.settled).toMatchObject([
      { toolCallId: "call_1", leaseId: "lease_1", status: "success", result: { words: 3 }, error: null },
    ]);
    expect(world.clock.sleeping()).toBe(0);
  });

  test("a card that came along with the claim is not asked for", async () => {
    const world = createRunnerWorld();
    await world.runner.handle({ ...world.call.command, card: world.call.card });
    expect(world.gateway.operations).toEqual(["settle"]);
  });

  test("[API-6-6] [UTP-8.4-5] what the tool sees", async () => {
    let seen: { call: ToolCall; context: ExecuteContext } | undefined;
    const world = createRunnerWorld({
      calls: [{ session: { n: 1 } }],
      run: (call, context) => {
        seen = { call, context };
      },
    });
    await world.runner.handle(world.call.command);
    expect(Object.keys(seen?.context ?? {}).sort()).toEqual(
      ["emit", "heartbeat", "idempotencyKey", "log", "scrub", "secrets", "signal"].sort(),
    );
    expect(seen?.context.idempotencyKey).toMatch(/^tool\.demo\.count_words\.[0-9a-f]{64}$/);
    expect(seen?.call).toMatchObject({
      toolName: "count_words",
      toolCallId: "call_1",
      afterExecution: "suspend",
      arguments: { text: "one two three" },
      attempt: 1,
      session: { n: 1 },
      leaseId: "lease_1",
      context: { agentId: "agent_a", agentTurnId: "turn_1", turnEpoch: 3, stepId: "step_1", parentStepId: "step_0" },
    });
    expect(seen?.call.card).toEqual(world.call.card);
  });

  test("[ARCH-7-8] one child span per run: of the command's trace, the same for the tool and the report", async () => {
    const spans: string[] = [];
    const world = createRunnerWorld({
      profile: { retry: "safe" },
      run: ({ traceparent, attempt }) => {
        spans.push(traceparent);
        if (attempt === 1) throw new ToolError("upstream_unavailable", "closed");
      },
    });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(1_000);
    await handled;
    expect(spans).toHaveLength(2);
    expect(new Set([...spans, world.gateway.settled[0]?.traceparent]).size).toBe(1);
    expect(spans[0]).not.toBe(TRACEPARENT);
    expect(parseTraceparent(spans[0]).traceId).toBe(TRACE_ID);
  });

  test("[ARCH-7-7] the result says which definition the code has", async () => {
    const world = createRunnerWorld({
      profile: { definitionHash: "hash_of_code" },
      calls: [{ definitionHash: "hash_of_call" }],
    });
    await world.runner.handle(world.call.command);
    expect(world.gateway.settled[0]?.definitionHash).toBe("hash_of_code");
  });

  test("[UTP-2.2-2] payload keys that look like headers are named in the log, and the call runs", async () => {
    const payload = { tool_call_card_id: "card_call_1", tool_name: "count_words", after_execution: "suspend" };
    const world = createRunnerWorld({ calls: [{ payload: { ...payload, "cg-agent-id": "evil" } }] });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "settled", status: "success" });
    expect(JSON.stringify(world.log.entries)).toContain('"keys":"cg-agent-id"');
  });

  test("[HOST-4-S1] a session's new state goes with the result", async () => {
    const world = createRunnerWorld({
      run: () => toolResult({ status: "success", result: 1, sessionState: { n: 2 } }),
    });
    await world.runner.handle(world.call.command);
    expect(world.gateway.settled[0]).toMatchObject({ result: 1, sessionState: { n: 2 } });
  });
});

describe("a tool that fails", () => {
  test("[UTP-8.3-9] [API-6-S12] its error becomes a failed result with a code", async () => {
    const world = createRunnerWorld({
      run: () => {
        throw new ToolError("out_of_stock", "none left", { detail: { sku: 3 }, retryable: false });
      },
    });
    const report = await world.runner.handle(world.call.command);
    expect(report).toMatchObject({ outcome: "settled", status: "failed", code: "out_of_stock" });
    expect(world.gateway.settled[0]).toMatchObject({
      status: "failed",
      error: { code: "out_of_stock", message: "none left", detail: { sku: 3 }, retryable: false, source: "tool" },
      result: { error_code: "out_of_stock", error_message: "none left" },
    });
  });

  test("[ARCH-7-2] a tool that is not declared safe is run once, whatever it throws", async () => {
    const world = createRunnerWorld({
      run: () => {
        throw new ToolError("upstream_unavailable", "closed", { retryable: true });
      },
    });
    await world.runner.handle(world.call.command);
    expect(world.runs()).toBe(1);
    expect(world.gateway.settled).toHaveLength(1);
  });

  test("[ARCH-7-9] a safe one is tried again with the same idempotency key, and settles once", async () => {
    const keys: string[] = [];
    const world = createRunnerWorld({
      profile: { retry: "safe" },
      run: ({ attempt }, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (attempt < 3) throw new ToolError("upstream_unavailable", "closed");
        return "open";
      },
    });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(2_000);
    expect(await handled).toMatchObject({ outcome: "settled", status: "success" });
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(3);
    expect(world.gateway.settled).toHaveLength(1);
  });
});

describe("a call that cannot be read", () => {
  test.each([
    ["[UTP-8.4-1] no card", async () => undefined, "not_found"],
    ["[UTP-8.4-2] a card of another type", async () => ({ type: "task.context" }), "protocol_violation"],
    ["[UTP-8.3-11] nonsense", async () => 3, "protocol_violation"],
  ])("%s: a failed result, and the tool does not run", async (_name, readCard, code) => {
    const world = createRunnerWorld({ script: { readCard } });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "settled", status: "failed", code });
    expect(world.runs()).toBe(0);
  });

  test("[UTP-8.3-11] a card that is wrong somewhere still gives its lineage", async () => {
    const world = createRunnerWorld({ mode: "two-step" });
    const { card } = world.call;
    world.gateway.script.readCard = async () => ({ ...card, content: { __type__: "TextContent", text: "x" } });
    await world.runner.handle(world.call.command);
    expect(world.gateway.cards[0]?.metadata).toMatchObject({
      step_id: "step_1",
      trace_id: TRACE_ID,
      parent_step_id: "step_0",
    });
  });

  test("[DOOR-2-4] in two steps the card another process was first with is reported, also when the command comes again", async () => {
    const world = createRunnerWorld({ mode: "two-step", calls: [{ leaseId: null }] });
    const detail = { tool_result_card_id: "card_first", status: "success" };
    world.gateway.script.putCard = async () => {
      throw new ToolplaneError("conflict", "the call has a result card already", { detail });
    };
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "settled", status: "success" });
    await world.runner.handle(world.call.command);
    expect(world.gateway.cards).toHaveLength(1);
    expect(world.gateway.reports.map(({ payload }) => payload.tool_result_card_id)).toEqual([
      "card_first",
      "card_first",
    ]);
  });

  test("a tool this service does not have is not_found", async () => {
    const world = createRunnerWorld({ calls: [{ toolName: "unknown_tool" }] });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ status: "failed", code: "not_found" });
    expect(world.gateway.settled[0]?.error).toMatchObject({ message: expect.stringContaining("unknown_tool") });
  });

  test("[ARCH-7-6] a strict tool refuses a call made under another definition, unless the plane has leased it", async () => {
    const world = createRunnerWorld({ profile: { pin: "strict" }, calls: [{ definitionHash: "hash_0" }] });
    expect(await world.runner.handle({ ...world.call.command, lease: undefined })).toMatchObject({
      status: "failed",
      code: "definition_changed",
    });
    expect(world.runs()).toBe(0);
    expect(await world.runner.handle(world.call.command)).toMatchObject({ status: "success" });
  });

  test("a slow card is waited for, within the deadline", async () => {
    const world = createRunnerWorld({ profile: { timeoutSeconds: 5 } });
    world.gateway.script.readCard = () => new Promise(() => {});
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(5_000);
    expect(await handled).toMatchObject({ outcome: "settled", status: "timeout", code: "tool_timeout" });
    expect(world.runs()).toBe(0);
  });
});

describe("progress", () => {
  test("[UTP-W25-S1] parts have a way of their own, numbered from 0, and the result keeps its slot", async () => {
    const world = createRunnerWorld({
      run: (_call, { emit }) => {
        emit("a");
        emit({ percent: 50 });
        emit(["b"]);
        return "done";
      },
    });
    await world.runner.handle(world.call.command);
    expect(world.gateway.parts).toEqual([
      { index: 0, part: "a" },
      { index: 1, part: { percent: 50 } },
      { index: 2, part: ["b"] },
    ]);
    expect(world.gateway.settled).toHaveLength(1);
  });

  test("[UTP-W25-S1] parts that are not JSON, too large or too late are dropped; the call is not concerned", async () => {
    let late: ((part: string) => void) | undefined;
    const world = createRunnerWorld({
      run: (_call, { emit }) => {
        emit(Infinity);
        emit("x".repeat(100_000));
        emit("fine");
        late = emit;
      },
    });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ outcome: "settled", status: "success" });
    late?.("too late");
    expect(world.gateway.parts).toEqual([{ index: 0, part: "fine" }]);
    expect(
      world.log.entries.filter(({ message }) => message.startsWith("a part that the tool emitted is not sent")),
    ).toHaveLength(2);
  });

  test("a tool can renew its lease itself", async () => {
    const world = createRunnerWorld({ run: async (_call, { heartbeat }) => heartbeat() });
    await world.runner.handle(world.call.command);
    expect(world.gateway.beats).toEqual([{ toolCallId: "call_1", leaseId: "lease_1" }]);
  });

  test("the tool's log entries name the tool and the call", async () => {
    const world = createRunnerWorld({ run: (_call, { log }) => log.info("hello", { n: 1 }) });
    await world.runner.handle(world.call.command);
    expect(world.log.entries).toEqual([
      { level: "info", message: "hello", fields: { tool: "count_words", call: "call_1", n: 1 } },
    ]);
  });
});

test("the runner's defaults need nothing but a gateway, an executor and a target", async () => {
  const world = createRunnerWorld({ clock: undefined, ids: undefined, random: undefined, log: undefined });
  const { command } = world.call;
  const expiresAt = Date.now() + 15_000;
  const report = await world.runner.handle({ ...command, lease: { id: "lease_1", expiresAt } });
  expect(report.outcome).toBe("settled");
  expect(command.headers[HEADERS.traceparent]).not.toBe(world.gateway.settled[0]?.traceparent);
});
