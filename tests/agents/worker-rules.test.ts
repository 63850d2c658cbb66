// Rules of the protocol about turns, seen from the outside of a whole plane: what rows and events are there afterwards.

import type { FunctionAnswer } from "@toolplane/agents";
import type { FaultPoint } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import { eventually, meddle, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type AgentPlane, openAgentPlane, POOL, PROFILE } from "./support/agent-plane.ts";

const calls = (...names: string[]): FunctionAnswer => ({
  toolCalls: names.map((name, index) => ({ id: `call_${index}`, name, arguments: { text: name } })),
});

const rows = async <Row extends object>({ t }: AgentPlane, sql: string, values: unknown[] = []): Promise<Row[]> =>
  withClient(t, async (client) => (await client.query<Row>(sql, values)).rows);

const insertRow = (
  plane: AgentPlane,
  row: { id: string; type: string; turn: string; epoch: number; payload: string },
) => meddle(plane.t, "addInboxRow", [plane.projectId, row.id, "ann", row.type, row.turn, row.epoch, "{}", row.payload]);

const statusOf = async (plane: AgentPlane, inboxId: string): Promise<string | undefined> =>
  (await rows<{ status: string }>(plane, "select status from state.inbox where inbox_id = $1", [inboxId]))[0]?.status;

const taskEvents = (plane: AgentPlane) =>
  rows<{ payload: string }>(plane, "select payload from bus.events where subject like '%.task'");

/** Registers a tool nobody serves and lets the profile use only it. */
const withForeignTool = async (plane: AgentPlane, name: string, more: object = {}): Promise<void> => {
  await plane.engine.tools.upsertTool(plane.projectId, {
    tool_name: name,
    description: "",
    target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.foreign.${name}`,
    after_execution: "suspend",
    parameters: { type: "object", properties: { text: { type: "string" } } },
    options: { retry: "safe" },
    ...more,
  });
};

const allow = (plane: AgentPlane, ...allowed_tools: string[]) =>
  plane.engine.profiles.upsertProfile(plane.projectId, { name: PROFILE, worker_target: POOL, allowed_tools });

const settleOne = async (plane: AgentPlane, toolName: string): Promise<void> => {
  const { engine, projectId } = plane;
  const leased = await engine.calls.claim({ projectId, target: "foreign", holder: "h", max: 10 }, 10_000);
  for (const { facts, lease } of leased) {
    if (facts.toolName !== toolName) {
      await engine.calls.release({ projectId, toolCallId: facts.toolCallId, leaseId: lease.id });
      continue;
    }
    await engine.calls.settle({
      projectId,
      toolCallId: facts.toolCallId,
      actorId: facts.actorId,
      leaseId: lease.id,
      outcome: { given: { status: "success", result: { ok: true } } },
    });
  }
};

test("[UTP-10.1-2] [UTP-10.1-3] rows that cannot be replayed become error, work of no turn leads to nothing, and the turn beside them runs", async () => {
  await using plane = await openAgentPlane();
  await plane.agents("ann");
  const turn = await plane.spawn("ann", "go");
  await insertRow(plane, { id: "broken", type: "tool_result", turn: turn.agentTurnId, epoch: 1, payload: "no JSON" });
  await insertRow(plane, {
    id: "identity",
    type: "tool_result",
    turn: turn.agentTurnId,
    epoch: 1,
    payload: '{"agent_id":"somebody"}',
  });
  await insertRow(plane, { id: "nobodys", type: "turn", turn: "turn_nobody", epoch: 0, payload: "{}" });
  await plane.startWorker(() => "done");
  expect((await plane.ended(turn)).status).toBe("success");
  expect(await statusOf(plane, "broken")).toBe("error");
  expect(await statusOf(plane, "identity")).toBe("error");
  expect(["error", "skipped"]).toContain(await statusOf(plane, "nobodys"));
});

test("[UTP-10.3-6] a row of an earlier epoch does not hold a terminating tool up, and changes nothing", async () => {
  await using plane = await openAgentPlane();
  await withForeignTool(plane, "first");
  await withForeignTool(plane, "last", { after_execution: "terminate" });
  await allow(plane, "first", "last");
  await plane.agents("ann");
  let leftOver: Promise<unknown> | undefined;
  const worker = await plane.startWorker(async ({ stepNumber, agentTurnId }) => {
    if (stepNumber === 1) return calls("first");
    // A repeated report of the first call, which the turn has long had.
    leftOver ??= insertRow(plane, { id: "late", type: "tool_result", turn: agentTurnId, epoch: 1, payload: "{}" });
    await leftOver;
    return calls("last");
  });
  const turn = await plane.spawn("ann", "go");
  await settleOne(plane, "first");
  await settleOne(plane, "last");
  const view = await plane.ended(turn);
  expect(view).toMatchObject({ status: "success", stepCount: 2 });
  expect(["consumed", "error"]).toContain(await statusOf(plane, "late"));
  expect(await taskEvents(plane)).toHaveLength(1);
  expect(worker.stats().turns.failed).toBe(0);
});

test("[UTP-10.3-8] suspending, the calls and their commands are one transaction: nothing of a step is seen before", async () => {
  const seen: object[] = [];
  let plane: AgentPlane | undefined;
  const at = async (point: FaultPoint): Promise<void> => {
    if (point !== "commit:before-commit" || plane === undefined || seen.length > 0) return;
    seen.push(
      ...(await rows(
        plane,
        "select status, waiting_tool_count, (select count(*)::int from state.calls) as calls, (select count(*)::int from cards.cards where type in ('tool.call', 'agent.thought')) as cards from state.heads",
      )),
    );
    throw new ToolplaneError("storage_error", "the connection broke before the commit");
  };
  await using opened = await openAgentPlane({ engine: { faults: { at } } });
  plane = opened;
  await plane.agents("ann");
  await plane.startWorker(({ stepNumber }) => (stepNumber === 1 ? calls("echo", "echo") : "done"));
  const turn = await plane.spawn("ann", "go");
  expect((await plane.ended(turn)).status).toBe("success");
  expect(seen).toEqual([{ status: "running", waiting_tool_count: 0, calls: 0, cards: 0 }]);
  expect((await plane.outputOf(turn)).filter(({ type }) => type === "tool.call")).toHaveLength(2);
});

test("[UTP-10.3-9] a call keeps its own deadline while its siblings finish", async () => {
  await using plane = await openAgentPlane();
  await withForeignTool(plane, "slow", { options: { retry: "safe", timeout_seconds: 600 } });
  await withForeignTool(plane, "quick");
  await allow(plane, "slow", "quick");
  await plane.agents("ann");
  await plane.startWorker(({ stepNumber }) => (stepNumber === 1 ? calls("slow", "quick") : "done"));
  const turn = await plane.spawn("ann", "go");
  const { engine, projectId } = plane;
  await eventually(async () => (await engine.turns.get(turn))?.status === "suspended");
  const leased = await engine.calls.claim({ projectId, target: "foreign", holder: "h", max: 2 }, 10_000);
  const deadlines = () =>
    rows<{ tool_name: string; at: number }>(
      plane,
      "select tool_name, extract(epoch from run_deadline)::float8 as at from state.calls where settled_at is null order by tool_name",
    );
  const [, slow] = await deadlines();
  const settle = async (toolName: string): Promise<void> => {
    const call = leased.find(({ facts }) => facts.toolName === toolName);
    await engine.calls.settle({
      projectId,
      toolCallId: call?.facts.toolCallId ?? "",
      actorId: "tool.foreign",
      leaseId: call?.lease.id,
      outcome: { given: { status: "success", result: {} } },
    });
  };
  await settle("quick");
  await eventually(async () => (await engine.turns.get(turn))?.waitingCount === 1);
  expect(await deadlines()).toEqual([slow]);
  await settle("slow");
  expect((await plane.ended(turn)).status).toBe("success");
});

test("[UTP-10.6-1] [UTP-10.6-2] a finished turn: one deliverable, one task event, the head idle with a pointer to the output", async () => {
  await using plane = await openAgentPlane();
  await plane.agents("ann");
  await plane.startWorker(() => "done");
  const turn = await plane.spawn("ann", "go");
  const view = await plane.ended(turn);
  const deliverables = (await plane.outputOf(turn)).filter(({ type }) => type === "task.deliverable");
  expect(deliverables.map(({ card_id }) => card_id)).toEqual([view.deliverableCardId]);
  expect(await rows(plane, "select status, active_agent_turn_id, last_output_box_id from state.heads")).toEqual([
    { status: "idle", active_agent_turn_id: null, last_output_box_id: turn.outputBoxId },
  ]);
  const events = (await taskEvents(plane)).map(({ payload }) => JSON.parse(payload) as object);
  expect(events).toMatchObject([
    { status: "success", deliverable_card_id: view.deliverableCardId, chain_head: expect.any(String) },
  ]);
});

test("[UTP-10.6-2] [UTP-10.7-2] [UTP-10.7-3] a worker that lost its turn to a stop writes no second end", async () => {
  await using plane = await openAgentPlane();
  await plane.agents("ann");
  const answer = Promise.withResolvers<string>();
  let asked = 0;
  const deaf = {
    think: async () => {
      asked++;
      return { text: await answer.promise, toolCalls: [] };
    },
  };
  const worker = await plane.startWorker(deaf, { heartbeatMs: 1_000_000, lookMs: 1_000_000 });
  const turn = await plane.spawn("ann", "go");
  await eventually(() => asked === 1);
  expect(await plane.engine.turns.stop({ ...turn, actorId: "sys.test" })).toMatchObject({ stopped: true });
  answer.resolve("too late");
  await eventually(() => worker.stats().turns.lost === 1);
  const view = await plane.ended(turn);
  expect(view).toMatchObject({ status: "failed", errorCode: "stopped", error: "stopped_by_pmo" });
  expect(await taskEvents(plane)).toHaveLength(1);
  const output = (await plane.outputOf(turn)).map(({ type }) => type);
  expect(output.toSorted()).toEqual(["agent.error", "task.deliverable"]);
  const [head] = await rows<{ status: string; epoch: number }>(
    plane,
    "select status, turn_epoch::int as epoch from state.heads",
  );
  expect(head).toEqual({ status: "idle", epoch: (turn.turnEpoch ?? 0) + 1 });
});

test("[UTP-10.7-1] a stop of a turn that is over changes nothing for the one that runs", async () => {
  await using plane = await openAgentPlane();
  await plane.agents("ann");
  const answer = Promise.withResolvers<string>();
  await plane.startWorker(({ messages }) => (messages[0]?.content === "second" ? answer.promise : "done"));
  const first = await plane.spawn("ann", "first");
  await plane.ended(first);
  const second = await plane.spawn("ann", "second");
  await eventually(async () => (await plane.engine.turns.get(second))?.status === "running");
  expect(await plane.engine.turns.stop({ ...first, actorId: "sys.test" })).toEqual({
    stopped: false,
    status: "success",
  });
  answer.resolve("still here");
  const view = await plane.ended(second);
  expect(await plane.deliverableOf(view)).toBe("still here");
});
