// The terminal guard: a turn that its agent ends by a tool ends only when its inbox holds nothing it has not seen. Seen from
// the outside of a whole plane, at the engine itself, and on NATS.
// Doors: NATS, in process

import type { FunctionAnswer } from "@toolplane/agents";
import { type Clock, stepIdOf, systemClock } from "@toolplane/engine";
import type { JsonObject } from "@toolplane/protocol";
import { eventually, meddle, resultFor, withClient } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { openNatsGround } from "../carrier/nats-world.ts";
import { advance, asking, call, commit, mustWork, startTurnWorld } from "../turns/turn-world.ts";
import { type AgentPlane, openAgentPlane, POOL, PROFILE } from "./support/agent-plane.ts";

type Row = { readonly id: string; readonly turn: string; readonly epoch: number; readonly type?: string };

const HEADERS = JSON.stringify({
  traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
  "CG-Recursion-Depth": "0",
});

const insertRow = ({ t, projectId }: Pick<AgentPlane, "t" | "projectId">, agentId: string, row: Row) =>
  meddle(t, "addInboxRow", [projectId, row.id, agentId, row.type ?? "tool_result", row.turn, row.epoch, HEADERS, "{}"]);

const rowsOf = async (plane: Pick<AgentPlane, "t">): Promise<Readonly<Record<string, string>>> =>
  withClient(plane.t, async (client) => {
    const { rows } = await client.query<{ inbox_id: string; status: string }>(
      "select inbox_id, status from state.inbox where inbox_id not like 'inbox_%'",
    );
    return Object.fromEntries(rows.map(({ inbox_id, status }) => [inbox_id, status]));
  });

const activities = async (plane: Pick<AgentPlane, "t">): Promise<readonly unknown[]> =>
  withClient(plane.t, async (client) => {
    const { rows } = await client.query<{ activity: unknown }>(
      "select payload::json -> 'metadata' ->> 'activity' as activity from bus.events where subject like '%.state' order by id, part",
    );
    return rows.map(({ activity }) => activity);
  });

const submit: FunctionAnswer = { toolCalls: [{ id: "s", name: "submit_result", arguments: { result: "the answer" } }] };

const openSubmitting = async (): Promise<AgentPlane> => {
  const plane = await openAgentPlane({ profile: { allowed_internal_tools: ["submit_result"], allowed_tools: [] } });
  await plane.agents("ann");
  return plane;
};

const resultCodes = async (plane: AgentPlane, outputBoxId: string): Promise<readonly unknown[]> =>
  (await plane.outputOf({ outputBoxId })).flatMap(({ content }) =>
    content.__type__ === "ToolResultContent" ? [(content.error as JsonObject | null)?.code ?? content.status] : [],
  );

describe("submit_result", () => {
  test("[UTP-10.3-6] with an open row it gets inbox_not_empty; the inbox is drained and the turn goes on to its end", async () => {
    await using plane = await openSubmitting();
    await plane.startWorker(async ({ stepNumber, agentTurnId }) => {
      if (stepNumber === 1) await insertRow(plane, "ann", { id: "news", turn: agentTurnId, epoch: 1 });
      return submit;
    });
    const view = await plane.ended(await plane.spawn("ann", "go"));
    expect(view).toMatchObject({ status: "success", stepCount: 2 });
    expect(await plane.deliverableOf(view)).toBe("the answer");
    expect(await resultCodes(plane, view.outputBoxId)).toEqual(["inbox_not_empty", "success"]);
    expect(await rowsOf(plane)).toEqual({ news: "consumed" });
    expect(await activities(plane)).toContain("waiting_for_inbox_drain");
  });

  test("[UTP-10.3-6] a row of another turn that is still open, or of a kind agents do not know, is news as well", async () => {
    await using plane = await openSubmitting();
    await plane.startWorker(async ({ stepNumber }) => {
      if (stepNumber === 1) {
        await insertRow(plane, "ann", { id: "other", turn: "turn_unknown", epoch: 1 });
        await insertRow(plane, "ann", { id: "stop", turn: "turn_unknown", epoch: 1, type: "stop" });
      }
      return submit;
    });
    const view = await plane.ended(await plane.spawn("ann", "go"));
    expect(await resultCodes(plane, view.outputBoxId)).toEqual(["inbox_not_empty", "success"]);
    expect(await rowsOf(plane)).toEqual({ other: "consumed", stop: "error" });
  });

  test("[UTP-10.3-6] [INV-I2-T1] rows of ended turns and old epochs are consumed with the end, and hold nothing up", async () => {
    await using plane = await openSubmitting();
    let first: string | undefined;
    const worker = await plane.startWorker(async ({ agentTurnId }) => {
      if (first !== undefined && first !== agentTurnId) {
        await insertRow(plane, "ann", { id: "ended", turn: first, epoch: 1 });
        await insertRow(plane, "ann", { id: "older", turn: agentTurnId, epoch: 1 });
      }
      first ??= agentTurnId;
      return submit;
    });
    await plane.ended(await plane.spawn("ann", "one"));
    const view = await plane.ended(await plane.spawn("ann", "two"));
    expect(view).toMatchObject({ status: "success", stepCount: 1 });
    expect(await rowsOf(plane)).toEqual({ ended: "consumed", older: "consumed" });
    expect(worker.stats().turns.failed).toBe(0);
  });

  test("[UTP-10.3-6] a turn that waits in line does not hold the end up", async () => {
    await using plane = await openSubmitting();
    let second: Promise<{ agentTurnId: string }> | undefined;
    await plane.startWorker(async () => {
      second ??= plane.spawn("ann", "next");
      await second;
      return submit;
    });
    const view = await plane.ended(await plane.spawn("ann", "go"));
    expect(view).toMatchObject({ status: "success", stepCount: 1 });
    expect(await plane.ended((await second) ?? { agentTurnId: "" })).toMatchObject({ status: "success" });
  });

  test("[UTP-10.3-6] an inbox that cannot be drained ends the turn within a bound, with the reason", async () => {
    await using plane = await openSubmitting();
    const think = async ({
      stepNumber,
      agentTurnId,
    }: {
      readonly stepNumber: number;
      readonly agentTurnId: string;
    }) => {
      if (stepNumber === 1) {
        await insertRow(plane, "ann", { id: "stuck", turn: agentTurnId, epoch: 1 });
        // Held by somebody who does not let go.
        await meddle(plane.t, "holdStuckRow");
      }
      return submit;
    };
    // The pauses between the looks are not what is tested.
    const sleep: Clock["sleep"] = (ms, signal) => systemClock.sleep(ms === 1_000 ? 20 : ms, signal);
    await plane.startWorker(think, { clock: { ...systemClock, sleep } });
    const view = await plane.ended(await plane.spawn("ann", "go"));
    expect(view).toMatchObject({ status: "failed", errorCode: "inbox_guard_wait_exceeded" });
  });
});

describe("a terminating tool", () => {
  test("[UTP-10.3-6] is not called while the inbox has news; after the drain it ends the turn", async () => {
    await using plane = await openAgentPlane();
    const { engine, projectId } = plane;
    await engine.tools.upsertTool(projectId, {
      tool_name: "last",
      description: "",
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.foreign.last",
      after_execution: "terminate",
      parameters: { type: "object" },
      options: { retry: "safe" },
    });
    await engine.profiles.upsertProfile(projectId, { name: PROFILE, worker_target: POOL, allowed_tools: ["last"] });
    await plane.agents("ann");
    await plane.startWorker(async ({ stepNumber, agentTurnId }) => {
      if (stepNumber === 1) await insertRow(plane, "ann", { id: "news", turn: agentTurnId, epoch: 1 });
      return { toolCalls: [{ id: `c${stepNumber}`, name: "last", arguments: {} }] };
    });
    const turn = await plane.spawn("ann", "go");
    const [leased] = await engine.calls.claim({ projectId, target: "foreign", holder: "h", max: 10 }, 10_000);
    if (leased === undefined) throw new RangeError("the tool was never called");
    await engine.calls.settle(resultFor(leased));
    const view = await plane.ended(turn);
    expect(view).toMatchObject({ status: "success", stepCount: 2 });
    expect(await resultCodes(plane, view.outputBoxId)).toEqual(["inbox_not_empty", "success"]);
    expect(await engine.calls.list(projectId)).toHaveLength(1);
  });
});

test("[UTP-10.3-6] at the engine itself, and as a NATS client sees it: refused, drained, ended", async () => {
  await using ground = await openNatsGround();
  await using t = await startTurnWorld({ carrier: await ground.carrier() });
  const states: string[] = [];
  await ground.bare.listen("cg.v1r4.*.*.evt.agent.*.state", ({ payload }) => states.push(payload));
  await t.engine.turns.spawn(asking(t));
  const work = mustWork(await advance(t));
  await insertRow({ t, projectId: t.projectId }, "helper", { id: "news", turn: work.agentTurnId, epoch: 1 });
  const end = { status: "success" as const, deliverable: "done", guard: true };
  await expect(t.engine.turns.finish(work, end)).rejects.toMatchObject({ code: "inbox_not_empty" });
  const step = await commit(t, work, call("ender"));
  expect(step).toMatchObject({ next: "running", calls: [{ refusal: { code: "inbox_not_empty" } }] });
  expect(await t.engine.turns.settleInbox(work)).toBe(true);
  const later = { ...work, stepCount: step.stepCount };
  expect(await t.engine.turns.finish(later, { ...end, stepId: stepIdOf(work.agentTurnId, 2) })).toMatchObject({
    status: "success",
  });
  await eventually(() => states.some((text) => text.includes("waiting_for_inbox_drain")));
});
