// The worker on a real database, with a tool service behind the sdk's runner: turns from the spawn to the task event.

import type { Brain, BrainFunction, FunctionAnswer } from "@toolplane/agents";
import type { Card } from "@toolplane/protocol";
import { eventually, withClient } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type AgentPlane, openAgentPlane } from "./support/agent-plane.ts";

const calls = (...asks: [name: string, args: unknown][]): FunctionAnswer => ({
  toolCalls: asks.map(([name, args], index) => ({ id: `call_${index}`, name, arguments: args })),
});

const types = (cards: readonly Card[]): string[] => cards.map(({ type }) => type);
const results = (cards: readonly Card[]): string[] =>
  cards.flatMap(({ content, metadata }) =>
    content.__type__ === "ToolResultContent"
      ? [
          `${metadata.function_name} ${content.status} ${(content.error as { code?: string } | null)?.code ?? ""}`.trim(),
        ]
      : [],
  );

const eventsOf = async ({ t, projectId }: AgentPlane, agentTurnId: string, suffix: string) => {
  const { rows } = await withClient(t, (client) =>
    client.query<{ payload: string }>(
      "select payload from bus.events where project_id = $1 and subject like $2 order by id, part",
      [projectId, `%.${suffix}`],
    ),
  );
  return rows
    .map(({ payload }) => JSON.parse(payload) as Record<string, unknown>)
    .filter((event) => event.agent_turn_id === agentTurnId);
};

test("parallel tools: one step, one suspension, one result each, in the order of the calls", async () => {
  await using plane = await openAgentPlane();
  await plane.agents("ann");
  const seen: string[][] = [];
  await plane.startWorker(({ stepNumber, messages }) => {
    seen.push(messages.map(({ role }) => role));
    if (stepNumber > 1) return "all three";
    return calls(["echo", { text: "a" }], ["echo", { text: "b" }], ["fail", {}]);
  });
  const turn = await plane.spawn("ann", "use three tools");
  const view = await plane.ended(turn);
  expect(view).toMatchObject({ status: "success", stepCount: 2, errorCode: null });
  expect(await plane.deliverableOf(view)).toBe("all three");
  const output = await plane.outputOf(turn);
  expect(types(output)).toEqual([
    "agent.thought",
    "tool.call",
    "tool.call",
    "tool.call",
    "tool.result",
    "tool.result",
    "tool.result",
    "agent.thought",
    "task.deliverable",
  ]);
  expect(results(output)).toEqual(["echo success", "echo success", "fail failed tool_error"]);
  expect(seen).toEqual([["user"], ["user", "assistant", "tool", "tool", "tool"]]);
  const tasks = await eventsOf(plane, turn.agentTurnId, "task");
  expect(tasks).toMatchObject([{ status: "success", stats: { step_count: 2, duration_ms: expect.any(Number) } }]);
  const steps = await eventsOf(plane, turn.agentTurnId, "step");
  expect(steps.map(({ phase }) => phase)).toEqual(["started", "completed", "started", "completed"]);
});

test("[UTP-10.3-2] [UTP-10.3-3] [UTP-10.3-4] [UTP-10.3-7] refused calls: one failed result each, in place, and the turn goes on", async () => {
  await using plane = await openAgentPlane({ profile: { allowed_tools: ["echo", "gone"] } });
  await plane.agents("ann");
  await plane.startWorker(({ stepNumber }) =>
    stepNumber > 1
      ? "done"
      : calls(["echo", "{"], ["fail", {}], ["gone", {}], ["echo", { text: 1 }], ["echo", { text: "fine" }]),
  );
  const turn = await plane.spawn("ann", "go");
  expect((await plane.ended(turn)).status).toBe("success");
  expect(results(await plane.outputOf(turn)).toSorted()).toEqual(
    [
      "echo failed bad_request",
      "fail failed auth_failed",
      "gone failed not_found",
      "echo failed bad_request",
      "echo success",
    ].toSorted(),
  );
});

test("[UTP-D25-T1] submit_result hands in what the task requires, and writes a result card but no call", async () => {
  await using plane = await openAgentPlane({ profile: { allowed_internal_tools: ["submit_result"] } });
  await plane.agents("ann");
  await plane.startWorker(({ stepNumber }) =>
    calls(["submit_result", { result: stepNumber === 1 ? { wrong: 1 } : { answer: 42 } }]),
  );
  const turn = await plane.spawn("ann", "go", {
    context: { instruction: "go", resultFields: [{ name: "answer", description: "a number" }] },
  });
  const view = await plane.ended(turn);
  expect(await plane.deliverableOf(view)).toEqual({ fields: [{ name: "answer", value: "42" }] });
  const output = await plane.outputOf(turn);
  expect(types(output)).not.toContain("tool.call");
  expect(results(output)).toEqual(["submit_result failed bad_request", "submit_result success"]);
});

test.each<[string, BrainFunction | Brain, object, string]>([
  ["a brain that fails", { think: () => Promise.reject(new RangeError("secret")) }, {}, "internal_error"],
  [
    "[UTP-10.2-3] a brain that never ends",
    () => calls(["nothing", {}]),
    { limits: { maxSteps: 2 } },
    "max_steps_reached",
  ],
])("[UTP-W13] %s: a deliverable, one task event, an error code", async (_what, think, options, code) => {
  await using plane = await openAgentPlane();
  await plane.agents("ann");
  await plane.startWorker(think, options);
  const turn = await plane.spawn("ann", "go");
  const view = await plane.ended(turn);
  expect(view).toMatchObject({ status: "failed", errorCode: code });
  expect(await plane.deliverableOf(view)).toMatchObject({ kind: "fallback_deliverable", partial: true });
  expect(await eventsOf(plane, turn.agentTurnId, "task")).toMatchObject([{ status: "failed", error_code: code }]);
  expect(JSON.stringify(view)).not.toContain("secret");
});

test("[UTP-10.7-3] a stop during a model call interrupts it, cancels nothing twice, and leaves one deliverable", async () => {
  await using plane = await openAgentPlane();
  await plane.agents("ann");
  const thinking: AbortSignal[] = [];
  const worker = await plane.startWorker(
    ({ signal }) => {
      thinking.push(signal);
      return new Promise(() => {});
    },
    { heartbeatMs: 100 },
  );
  const turn = await plane.spawn("ann", "go");
  await eventually(() => thinking.length === 1);
  await plane.engine.turns.stop({ ...turn, actorId: "sys.test", reason: "enough" });
  await eventually(() => thinking[0]?.aborted === true);
  await eventually(() => worker.stats().turns.lost === 1);
  const view = await plane.ended(turn);
  expect(view).toMatchObject({ status: "failed", errorCode: "stopped", error: "enough" });
  expect(await eventsOf(plane, turn.agentTurnId, "task")).toHaveLength(1);
});

test("[UTP-10.5-3] a tool that terminates ends the turn, whatever must_end_with says", async () => {
  await using plane = await openAgentPlane({ profile: { must_end_with: ["submit_result"] } });
  await plane.agents("ann");
  const upload = {
    tool_name: "last",
    description: "",
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.elsewhere.last",
    after_execution: "terminate",
    parameters: { type: "object", properties: {} },
    options: { retry: "safe" },
  };
  await plane.engine.tools.upsertTool(plane.projectId, upload);
  await plane.engine.profiles.upsertProfile(plane.projectId, {
    name: "tester",
    worker_target: "pool_test",
    allowed_tools: ["last"],
    must_end_with: ["submit_result"],
  });
  await plane.agents("bob");
  let asked = 0;
  await plane.startWorker(() => {
    asked++;
    return calls(["last", {}]);
  });
  const turn = await plane.spawn("bob", "go");
  const claim = { projectId: plane.projectId, target: "elsewhere", holder: "h", max: 1 };
  const [leased] = await plane.engine.calls.claim(claim, 10_000);
  await plane.engine.calls.settle({
    projectId: plane.projectId,
    toolCallId: leased?.facts.toolCallId ?? "",
    actorId: "tool.elsewhere",
    leaseId: leased?.lease.id,
    outcome: { given: { status: "success", result: { ok: true } } },
  });
  const view = await plane.ended(turn);
  expect(view.status).toBe("success");
  expect(asked).toBe(1);
});

test("[UTP-10.1-5] [UTP-10.1-4] a worker that drains gives its work back; results that arrived meanwhile are resumed by the next", async () => {
  await using plane = await openAgentPlane();
  await plane.agents("ann", "bob");
  let isStuck = true;
  const think: BrainFunction = ({ stepNumber }) => {
    if (stepNumber === 1) return calls(["echo", { text: "x" }]);
    return isStuck ? new Promise<string>(() => {}) : "done";
  };
  const first = await plane.startWorker(think);
  const bob = await plane.spawn("bob", "go");
  await eventually(async () => (await plane.engine.turns.steps(bob)).length === 2);
  await first.stop({ drainMs: 1 });
  isStuck = false;
  expect(first.stats().turns.released).toBe(1);
  const ann = await plane.spawn("ann", "go");
  await plane.startWorker(think);
  const views = await Promise.all([plane.ended(ann), plane.ended(bob)]);
  expect(views.map(({ status }) => status)).toEqual(["success", "success"]);
  const ids = (await plane.engine.turns.steps(bob)).map(({ stepId }) => stepId);
  expect(new Set(ids).size).toBe(2);
});

test("two workers on one pool share the work, and each agent's turns keep their order", async () => {
  await using plane = await openAgentPlane();
  const agents = Array.from({ length: 12 }, (_, index) => `agent_${index}`);
  await plane.agents(...agents);
  const order = new Map<string, string[]>();
  const think: BrainFunction = ({ stepNumber, agentId, messages }) => {
    if (stepNumber === 1) return calls(["echo", { text: "x" }]);
    const said = messages.find(({ role }) => role === "user")?.content ?? "";
    order.set(agentId, [...(order.get(agentId) ?? []), said]);
    return said;
  };
  const other = await plane.t.another();
  const workers = [
    await plane.startWorker(think, { concurrency: 2, lookMs: 200 }),
    await plane.startWorker(think, { concurrency: 2, lookMs: 200, engine: other }),
  ];
  const turns = [];
  for (const number of [1, 2, 3]) for (const agent of agents) turns.push(await plane.spawn(agent, `turn ${number}`));
  const views = await Promise.all(turns.map((turn) => plane.ended(turn)));
  expect(views.every(({ status }) => status === "success")).toBe(true);
  expect([...order.values()].every((said) => said.join() === "turn 1,turn 2,turn 3")).toBe(true);
  await eventually(() => workers.reduce((sum, worker) => sum + worker.stats().turns.finished, 0) === turns.length);
  expect(workers.every((worker) => worker.stats().turns.finished > 0)).toBe(true);
});
