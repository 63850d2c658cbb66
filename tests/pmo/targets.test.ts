// Whom a delegation goes to, and what it takes along, on a real engine.

import { describe, expect, test } from "vitest";
import { BOSS, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

describe("targets", () => {
  test("[UTP-11.2-3] [UTP-4.6-E5] reuse goes on in the agent's last output box while it is idle, in a fresh one while it is busy", async () => {
    await using world = await startPmoWorld();
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "w1", profile_name: "Worker" });
    const reuse = { ...WORKER, target_strategy: "reuse", target_ref: "w1" };
    const first = await world.call("delegate_async", reuse);
    await world.finish("w1");
    await world.finish(BOSS);
    const second = await world.call("delegate_async", reuse);
    expect(second.result).toMatchObject({ agent_id: "w1", turn_epoch: expect.any(Number) });
    expect(second.result.output_box_id).toBe(first.result.output_box_id);
    await world.finish(BOSS);
    const third = await world.call("delegate_async", reuse);
    expect(third.result).toMatchObject({ status: "accepted", agent_id: "w1", turn_epoch: null });
    expect(third.result.output_box_id).not.toBe(first.result.output_box_id);
    await world.finish("w1");
    const queued = await world.takeWork("w1");
    expect(queued.agentTurnId).toBe(third.result.agent_turn_id);
  });

  test("[UTP-4.6-E5] reuse goes on in a new empty box when the last one was forgotten", async () => {
    await using world = await startPmoWorld();
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "w1", profile_name: "Worker" });
    const reuse = { ...WORKER, target_strategy: "reuse", target_ref: "w1" };
    const first = await world.call("delegate_async", reuse);
    await world.finish("w1");
    await world.finish(BOSS);
    expect(await world.engine.retain({ seconds: 0 })).toMatchObject({ turns: 2 });
    expect(await world.engine.boxes.loadBox(PROJECT, String(first.result.output_box_id))).toBeUndefined();
    const second = await world.call("delegate_async", reuse);
    expect(second.result.output_box_id).not.toBe(first.result.output_box_id);
    expect(await world.engine.boxes.loadBox(PROJECT, String(second.result.output_box_id))).toMatchObject({ length: 0 });
  });

  test("[UTP-11.2-4] a clone is derived from its source and begins with its output", async () => {
    await using world = await startPmoWorld();
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "w1", profile_name: "Worker" });
    const clone = { ...WORKER, target_strategy: "clone", target_ref: "w1" };
    const early = await world.call("delegate_async", clone);
    expect(early.error).toMatchObject({ code: "bad_request" });
    await world.finish(BOSS);
    await world.call("delegate_async", { ...WORKER, target_strategy: "reuse", target_ref: "w1" });
    const end = await world.finish("w1");
    await world.finish(BOSS);
    const { result } = await world.call("delegate_async", clone);
    const agent = await world.engine.agents.getAgent(PROJECT, String(result.agent_id));
    expect(agent).toMatchObject({ ownerAgentId: "w1", metadata: { derived_from: "w1", spawned_by: BOSS } });
    const box = await world.engine.boxes.loadBox(PROJECT, String(result.context_box_id));
    expect(box?.cardIds).toContain(end.deliverableCardId);
  });

  test("[UTP-11.4-1] launch_principal starts a new agent of the profile", async () => {
    await using world = await startPmoWorld();
    const { result } = await world.call("launch_principal", { profile_name: "boss", instruction: "lead" });
    const agent = await world.engine.agents.getAgent(PROJECT, String(result.agent_id));
    expect(agent).toMatchObject({ workerTarget: "office", metadata: { profile_name: "Boss" } });
  });

  test("[UTP-11.4-2] ask_expert passes the caller's output when asked to; without one bad_request", async () => {
    await using world = await startPmoWorld();
    const question = { expert_profile: "Worker", question: "how many?", include_history: true };
    const asked = await world.ask("ask_expert", question);
    const { outputBoxId } = await world.turn(asked.agentTurnId);
    const output = await world.engine.boxes.loadBox(PROJECT, outputBoxId);
    await world.serve();
    const { result } = await world.resultOf(asked.toolCallId);
    const context = await world.engine.boxes.loadBox(PROJECT, String(result.context_box_id));
    expect(output?.cardIds.length).toBeGreaterThan(0);
    expect(context?.cardIds.slice(0, output?.cardIds.length)).toEqual(output?.cardIds);

    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "idle", profile_name: "Boss" });
    const direct = { projectId: PROJECT, agentId: "idle", toolName: "ask_expert", arguments: question };
    const { toolCallId } = await world.engine.calls.dispatch(direct);
    await world.serve();
    expect((await world.resultOf(toolCallId)).error).toMatchObject({ code: "bad_request" });
  });

  test("[UTP-11.3-D1] a direct call delegates for the agent it names; without one there is nobody to delegate for", async () => {
    await using world = await startPmoWorld();
    const direct = { projectId: PROJECT, agentId: BOSS, toolName: "delegate_async", arguments: { ...WORKER } };
    const { toolCallId } = await world.engine.calls.dispatch(direct);
    await world.serve();
    const { result } = await world.resultOf(toolCallId);
    expect(await world.turn(String(result.agent_turn_id))).toMatchObject({ recursionDepth: 1, parentAgentId: BOSS });
    const nobody = { projectId: PROJECT, toolName: "delegate_async", arguments: { ...WORKER } };
    const second = await world.engine.calls.dispatch(nobody);
    await world.serve();
    expect((await world.resultOf(second.toolCallId)).error).toMatchObject({ code: "not_found" });
  });
});
