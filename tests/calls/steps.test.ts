import type { StepRequest } from "@toolplane/engine";
import { codeOf, fingerprint, resultFor, startTestEngine, type TestEngine, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";

const AGENT = "helper";

const startTurn = async (t: TestEngine, agentId = AGENT): Promise<StepRequest["origin"]> => {
  await withClient(t, async (client) => {
    await client.query("insert into resource.agents (project_id, agent_id, worker_target) values ($1, $2, 'pool_a')", [
      t.projectId,
      agentId,
    ]);
    await client.query(
      "insert into state.heads (project_id, agent_id, status, active_agent_turn_id, active_channel_id, turn_epoch) values ($1, $2, 'running', $3, 'public', 3)",
      [t.projectId, agentId, `turn_${agentId}`],
    );
  });
  return {
    projectId: t.projectId,
    agentId,
    channelId: "public",
    agentTurnId: `turn_${agentId}`,
    turnEpoch: 3,
    stepId: `step_${agentId}`,
    recursionDepth: 2,
    parentStepId: "step_parent",
  };
};

const ask = (toolName: string, providerCallId?: string) => ({ toolName, arguments: {}, providerCallId });

const rows = (t: TestEngine, sql: string) => withClient(t, async (client) => (await client.query(sql)).rows);

test("[INV-I4] a step writes all its calls and suspends the head in one transaction", async () => {
  await using t = await startTestEngine();
  const origin = await startTurn(t);
  const step = await t.engine.calls.dispatchStep({
    origin,
    calls: [ask("safe", "call_0"), ask("unsafe", "call_0"), ask("safe")],
  });
  expect(step.calls).toHaveLength(3);
  expect(step.chain.seq).toBe(3);
  expect(await rows(t, "select status, waiting_tool_count, chain_seq from state.heads")).toEqual([
    { status: "suspended", waiting_tool_count: 3, chain_seq: 3 },
  ]);
  expect(await rows(t, "select status, tool_call_ids from state.steps")).toEqual([
    { status: "suspended", tool_call_ids: step.calls.map(({ toolCallId }) => toolCallId) },
  ]);
});

test("[UTP-W03] a model that repeats its call ids still gets a call of its own for each", async () => {
  await using t = await startTestEngine();
  const origin = await startTurn(t);
  const step = await t.engine.calls.dispatchStep({ origin, calls: [ask("safe", "call_0"), ask("safe", "call_0")] });
  expect(new Set(step.calls.map(({ toolCallId }) => toolCallId)).size).toBe(2);
  expect(await rows(t, "select distinct provider_call_id from state.calls")).toEqual([{ provider_call_id: "call_0" }]);
});

test("[INV-I2] a step of another turn or epoch has no effect", async () => {
  await using t = await startTestEngine();
  const origin = await startTurn(t);
  const before = await fingerprint(t);
  for (const wrong of [{ turnEpoch: 2 }, { turnEpoch: 4 }, { agentTurnId: "turn_other" }])
    expect(await codeOf(t.engine.calls.dispatchStep({ origin: { ...origin, ...wrong }, calls: [ask("safe")] }))).toBe(
      "conflict",
    );
  expect(await fingerprint(t)).toBe(before);
  await t.engine.calls.dispatchStep({ origin, calls: [ask("safe")] });
  const next = { ...origin, stepId: "step_next" };
  expect(await codeOf(t.engine.calls.dispatchStep({ origin: next, calls: [ask("safe")] }))).toBe("conflict");
});

test("[ENG-step-again] the same step again is answered with the calls it made; other calls under its id are refused", async () => {
  await using t = await startTestEngine();
  const origin = await startTurn(t);
  const step = await t.engine.calls.dispatchStep({ origin, calls: [ask("safe"), ask("unsafe")] });
  const before = await fingerprint(t);
  expect(await t.engine.calls.dispatchStep({ origin, calls: [ask("safe"), ask("unsafe")] })).toEqual(step);
  const others = [
    [ask("safe")],
    [ask("unsafe"), ask("safe")],
    [ask("safe"), { toolName: "unsafe", arguments: { other: true } }],
  ];
  for (const calls of others) expect(await codeOf(t.engine.calls.dispatchStep({ origin, calls }))).toBe("conflict");
  expect(
    await codeOf(
      t.engine.calls.dispatchStep({ origin: { ...origin, turnEpoch: 4 }, calls: [ask("safe"), ask("unsafe")] }),
    ),
  ).toBe("conflict");
  expect(await fingerprint(t)).toBe(before);
});

test("[UTP-W41] one call of a step that cannot be made refuses the whole step and writes nothing", async () => {
  await using t = await startTestEngine();
  const origin = await startTurn(t);
  const before = await fingerprint(t);
  expect(await codeOf(t.engine.calls.dispatchStep({ origin, calls: [ask("safe"), ask("nothing")] }))).toBe("not_found");
  expect(await codeOf(t.engine.calls.dispatchStep({ origin, calls: [] }))).toBe("bad_request");
  expect(await fingerprint(t)).toBe(before);
});

test("[INV-I3] [UTP-5.6-9] a settled call of a turn lands in the inbox and rings the pool the roster names now", async () => {
  await using t = await startTestEngine();
  const origin = await startTurn(t);
  const step = await t.engine.calls.dispatchStep({ origin, calls: [ask("safe"), ask("safe")] });
  await withClient(t, (client) => client.query("update resource.agents set worker_target = 'pool_b'"));
  const claimed = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 });
  const settled = await Promise.all(claimed.map((call) => t.engine.calls.settle(resultFor(call))));
  const inbox = await rows(
    t,
    "select message_type, correlation_id, agent_turn_id, turn_epoch::int, status, payload::json as payload, context_headers::json as headers from state.inbox order by correlation_id",
  );
  expect(inbox.map(({ correlation_id }) => correlation_id)).toEqual(
    step.calls.map(({ toolCallId }) => toolCallId).sort(),
  );
  expect(inbox[0]).toMatchObject({
    message_type: "tool_result",
    agent_turn_id: origin.agentTurnId,
    turn_epoch: 3,
    status: "pending",
    headers: { "CG-Recursion-Depth": "2", "CG-Step-Id": origin.stepId, "CG-Parent-Step-Id": "step_parent" },
  });
  expect(Object.keys(inbox[0].payload).sort()).toEqual(["after_execution", "status", "tool_result_card_id"]);
  expect(settled.map(({ toolResultCardId }) => toolResultCardId)).toContain(inbox[0].payload.tool_result_card_id);
  const rung = await rows(t, "select subject, headers::json as headers from bus.messages");
  expect(rung[0]?.subject).toBe("cg.v1r4.demo.public.cmd.agent.pool_b.wakeup");
  expect(rung[0]?.headers["CG-Agent-Id"]).toBe(AGENT);
  expect(rung[0]?.headers["CG-Step-Id"]).toBeUndefined();
});

test("[UTP-2.5-span] the result's trace is a child span of the command's", async () => {
  await using t = await startTestEngine();
  const origin = await startTurn(t);
  const traceparent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
  await t.engine.calls.dispatchStep({ origin: { ...origin, traceparent }, calls: [ask("safe"), ask("safe")] });
  const [first, second] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 });
  if (first === undefined || second === undefined) throw new RangeError("two calls were expected");
  const own = "00-0123456789abcdef0123456789abcdef-aaaaaaaaaaaaaaaa-01";
  await t.engine.calls.settle({ ...resultFor(first), traceparent: own });
  await t.engine.calls.settle({ ...resultFor(second), traceparent });
  const inbox = await rows(
    t,
    "select correlation_id, context_headers::json ->> 'traceparent' as traceparent from state.inbox",
  );
  const spanOf = (id: string) => inbox.find(({ correlation_id }) => correlation_id === id)?.traceparent;
  expect(spanOf(first.facts.toolCallId)).toBe(own);
  expect(spanOf(second.facts.toolCallId)).toMatch(
    /^00-0123456789abcdef0123456789abcdef-(?!0123456789abcdef)[0-9a-f]{16}-01$/,
  );
});

test("[UTP-W38] an agent without a pool: the inbox row waits, nothing is lost, nobody is rung", async () => {
  await using t = await startTestEngine();
  const origin = await startTurn(t);
  await t.engine.calls.dispatchStep({ origin, calls: [ask("safe")] });
  await withClient(t, (client) => client.query("delete from resource.agents"));
  const [call] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 });
  if (call === undefined) throw new RangeError("one call was expected");
  expect(await t.engine.calls.settle(resultFor(call))).toMatchObject({ status: "success" });
  expect(await rows(t, "select status from state.inbox")).toEqual([{ status: "pending" }]);
  expect(await rows(t, "select id from bus.messages")).toEqual([]);
});

test("[ENG-step-flush] many agents' steps at once: each head moves once, each chain is its own", async () => {
  await using t = await startTestEngine();
  const origins = await Promise.all(Array.from({ length: 20 }, (_, i) => startTurn(t, `agent_${i}`)));
  const steps = await Promise.all(
    origins.map((origin) => t.engine.calls.dispatchStep({ origin, calls: [ask("safe"), ask("safe")] })),
  );
  expect(new Set(steps.map(({ chain }) => chain.hash)).size).toBe(20);
  expect(
    await rows(
      t,
      "select count(*)::int as n, sum(waiting_tool_count)::int as waiting from state.heads where status = 'suspended'",
    ),
  ).toEqual([{ n: 20, waiting: 40 }]);
});

test("[UTP-7.4-edges] the edges people read are the calls themselves", async () => {
  await using t = await startTestEngine();
  const origin = await startTurn(t);
  const { calls } = await t.engine.calls.dispatchStep({ origin, calls: [ask("safe")] });
  const [call] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 });
  if (call !== undefined) await t.engine.calls.settle(resultFor(call));
  const edges = await rows(
    t,
    "select primitive, edge_phase, correlation_id, recursion_depth, parent_step_id from state.execution_edges order by edge_phase",
  );
  const common = { correlation_id: calls[0]?.toolCallId, recursion_depth: 2, parent_step_id: "step_parent" };
  expect(edges).toEqual([
    { primitive: "tool_call", edge_phase: "request", ...common },
    { primitive: "report", edge_phase: "response", ...common },
  ]);
});
