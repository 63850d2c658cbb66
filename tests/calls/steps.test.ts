// The calls of an agent's step on their way back: inbox row, wakeup, trace, edges. The step itself is tested with turns.

import type { LeasedCall } from "@toolplane/engine";
import { meddle, resultFor } from "@toolplane/testkit";
import { expect, test } from "vitest";
import {
  addAgent,
  call,
  commit,
  POOL,
  startCarriedWorld,
  startTurnWorld,
  type TurnWorld,
  takeTurn,
} from "../turns/turn-world.ts";

const AGENT = "helper";

const claimAll = (t: TurnWorld): Promise<readonly LeasedCall[]> =>
  t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 5 });

const RESULTS = "message_type = 'tool_result'";

/** The bells of agents that were rung since this was asked last. */
const takeBells = async (t: TurnWorld) =>
  (await meddle<{ subject: string; headers: Record<string, string> }>(t, "takeCommands")).filter(({ subject }) =>
    subject.includes(".cmd.agent."),
  );

test("[INV-I3] [UTP-5.6-9] a settled call of a turn lands in the inbox and rings the pool the roster names now", async () => {
  await using t = await startCarriedWorld();
  const parent = await takeTurn(t, { agentId: (await addAgent(t, "parent")).agentId });
  const lineage = { agentId: parent.agentId, agentTurnId: parent.agentTurnId, stepId: "step_parent" };
  const work = await takeTurn(t, { lineage });
  const step = await commit(t, work, call("safe"), call("safe"));
  expect(new Set((await takeBells(t)).map(({ subject }) => subject))).toEqual(
    new Set([`cg.v1r4.demo.public.cmd.agent.${POOL}.wakeup`]),
  );
  await meddle(t, "moveAgents");
  const settled = await Promise.all((await claimAll(t)).map((leased) => t.engine.calls.settle(resultFor(leased))));
  const inbox = await t.rows<{
    correlation_id: string;
    headers: Record<string, string>;
    payload: Record<string, unknown>;
  }>(
    `select message_type, correlation_id, agent_turn_id, turn_epoch::int, status, payload::json as payload,
            context_headers::json as headers from state.inbox where ${RESULTS} order by correlation_id`,
  );
  expect(inbox.map(({ correlation_id }) => correlation_id)).toEqual(
    step.calls.map(({ toolCallId }) => toolCallId).sort(),
  );
  expect(inbox[0]).toMatchObject({
    message_type: "tool_result",
    agent_turn_id: work.agentTurnId,
    turn_epoch: work.turnEpoch,
    status: "pending",
    headers: { "CG-Recursion-Depth": "1", "CG-Parent-Step-Id": "step_parent" },
  });
  expect(inbox[0]?.headers["CG-Step-Id"]).toMatch(/_1$/);
  expect(Object.keys(inbox[0]?.payload ?? {}).sort()).toEqual(["after_execution", "status", "tool_result_card_id"]);
  expect(settled.map(({ toolResultCardId }) => toolResultCardId)).toContain(inbox[0]?.payload.tool_result_card_id);
  const [bell] = await takeBells(t);
  expect(bell?.subject).toBe("cg.v1r4.demo.public.cmd.agent.pool_b.wakeup");
  expect(bell?.headers["CG-Agent-Id"]).toBe(AGENT);
  expect(bell?.headers["CG-Step-Id"]).toBeUndefined();
});

test("[UTP-2.5-span] the result's trace is a child span of the command's", async () => {
  await using t = await startTurnWorld();
  const traceId = "0123456789abcdef0123456789abcdef";
  await commit(t, await takeTurn(t, { traceparent: `00-${traceId}-0123456789abcdef-01` }), call("safe"), call("safe"));
  const [first, second] = await claimAll(t);
  if (first === undefined || second === undefined) throw new RangeError("two calls were expected");
  const own = `00-${traceId}-aaaaaaaaaaaaaaaa-01`;
  const repeated = second.facts.headers.traceparent;
  expect(repeated).toContain(traceId);
  await t.engine.calls.settle({ ...resultFor(first), traceparent: own });
  await t.engine.calls.settle({ ...resultFor(second), traceparent: repeated });
  const inbox = await t.rows<{ correlation_id: string; traceparent: string }>(
    `select correlation_id, context_headers::json ->> 'traceparent' as traceparent from state.inbox where ${RESULTS}`,
  );
  const spanOf = (id: string) => inbox.find(({ correlation_id }) => correlation_id === id)?.traceparent;
  expect(spanOf(first.facts.toolCallId)).toBe(own);
  expect(spanOf(second.facts.toolCallId)).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  expect(spanOf(second.facts.toolCallId)).not.toBe(repeated);
});

test("[UTP-W38] an agent without a pool: the inbox row waits, nothing is lost, nobody is rung", async () => {
  await using t = await startCarriedWorld();
  await commit(t, await takeTurn(t), call("safe"));
  expect(await takeBells(t)).not.toEqual([]);
  await meddle(t, "dropAgents");
  const [leased] = await claimAll(t);
  if (leased === undefined) throw new RangeError("one call was expected");
  expect(await t.engine.calls.settle(resultFor(leased))).toMatchObject({ status: "success" });
  expect(await t.rows(`select status from state.inbox where ${RESULTS}`)).toEqual([{ status: "pending" }]);
  expect(await takeBells(t)).toEqual([]);
});

test("[ENG-step-flush] many agents' steps at once: each head moves once, each chain is its own", async () => {
  await using t = await startTurnWorld();
  const agents = await Promise.all(Array.from({ length: 20 }, (_, i) => addAgent(t, `agent_${i}`)));
  const works = await Promise.all(agents.map(({ agentId }) => takeTurn(t, { agentId })));
  const steps = await Promise.all(works.map((work) => commit(t, work, call("safe"), call("safe"))));
  expect(new Set(steps.flatMap(({ calls }) => calls.map(({ toolCallId }) => toolCallId))).size).toBe(40);
  expect(
    await t.rows(
      `select count(*)::int as n, sum(waiting_tool_count)::int as waiting, count(distinct chain_hash)::int as chains
         from state.heads where status = 'suspended'`,
    ),
  ).toEqual([{ n: 20, waiting: 40, chains: 20 }]);
});

test("[UTP-7.4-edges] the edges people read are the calls themselves", async () => {
  await using t = await startTurnWorld();
  const { calls } = await commit(t, await takeTurn(t), call("safe"));
  for (const leased of await claimAll(t)) await t.engine.calls.settle(resultFor(leased));
  const edges = await t.rows(
    `select primitive, edge_phase, correlation_id, recursion_depth from state.execution_edges
      where correlation_id = $1 order by edge_phase`,
    [calls[0]?.toolCallId],
  );
  const common = { correlation_id: calls[0]?.toolCallId, recursion_depth: 0 };
  expect(edges).toEqual([
    { primitive: "tool_call", edge_phase: "request", ...common },
    { primitive: "report", edge_phase: "response", ...common },
  ]);
});
