// delegate_async, launch_principal and ask_expert through the runner, on a real engine.

import { createPmo, PMO_SERVICE } from "@toolplane/agents";
import { ToolplaneError } from "@toolplane/protocol";
import { createRunner, silentLog, systemClock } from "@toolplane/sdk";
import { createEngineGateway } from "@toolplane/server/internal";
import { letPass, meddle, queryTestDatabase } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { IDENTITY_EDGES, LEFT_BEHIND, TURNS_LIKE } from "./pmo-world.sql.ts";
import { BOSS, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

describe("delegate_async", () => {
  test("[UTP-11.3-2] [UTP-11.2-2] answers with the child, which is under way and one deeper, and waits for nobody", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("delegate_async", { ...WORKER });
    expect(await world.serve()).toMatchObject([{ outcome: "settled", status: "success" }]);
    const { status, author, result, error } = await world.resultOf(asked.toolCallId);
    expect([status, author, error]).toEqual(["success", "sys.pmo", null]);
    const [child] = await world.children(asked.agentTurnId);
    expect(result).toEqual({
      status: "accepted",
      agent_id: child?.agentId,
      agent_turn_id: child?.agentTurnId,
      turn_epoch: 1,
      context_box_id: child?.contextBoxId,
      output_box_id: child?.outputBoxId,
    });
    expect(child).toMatchObject({ status: "dispatched", recursionDepth: 1, parentAgentId: BOSS });
    const agent = await world.engine.agents.getAgent(PROJECT, String(result.agent_id));
    expect(agent).toMatchObject({
      workerTarget: "floor",
      ownerAgentId: BOSS,
      metadata: { profile_name: "Worker", spawned_by: BOSS },
    });
    expect(agent?.agentId).toBe(`${agent?.profileBoxId}_${agent?.agentId.slice(-32)}`);
    const edges = await queryTestDatabase(world.test.database.url, IDENTITY_EDGES, [agent?.agentId]);
    expect(edges).toMatchObject([{ action: "provision", source_agent_id: BOSS }]);
  });

  test("[TEAM-1] [TEAM-2] its deliverable is found by the turn's id and does not come back; the agent leaves the list with it", async () => {
    await using world = await startPmoWorld();
    const { engine } = world;
    const { result } = await world.call("delegate_async", { ...WORKER });
    const [agentId, agentTurnId] = [String(result.agent_id), String(result.agent_turn_id)];
    const listed = async () => (await engine.agents.listAgents(PROJECT, { all: false, limit: 500 })).items;
    const made = (await listed()).find((agent) => agent.agentId === agentId);
    expect(made?.displayName).toBe(`Worker-${agentId.slice(-4)}`);
    await world.finish(agentId);
    const child = await engine.turns.get({ projectId: PROJECT, agentTurnId });
    expect(child).toMatchObject({ status: "success", deliverableCardId: expect.any(String) });
    // The turn that delegated has all it waits for; nothing of the child is in its boxes.
    const boss = await engine.turns.get({ projectId: PROJECT, agentTurnId: child?.parentAgentTurnId ?? "" });
    const [boxes] = boss === undefined ? [] : await engine.turns.readBoxes([boss]);
    const cards = [...(boxes?.context ?? []), ...(boxes?.output ?? [])].map((card) =>
      "bytes" in card ? card.cardId : card.card_id,
    );
    expect(cards).not.toContain(child?.deliverableCardId);
    expect((await listed()).map((agent) => agent.agentId)).not.toContain(agentId);
    expect((await engine.agents.getAgent(PROJECT, agentId))?.status).toBe("active");
  });

  test("[UTP-11.3-2] [INV-I12-T1] a turn that another caller made under the call's correlation is not the child, and does not keep it away", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("delegate_async", { ...WORKER });
    const foreign = await world.engine.turns.spawn({
      projectId: PROJECT,
      agentId: BOSS,
      sourceAgentId: "sys.api",
      context: { instruction: "something else" },
      correlationId: `delegate_${asked.toolCallId}`,
    });
    await world.serve();
    const { result } = await world.resultOf(asked.toolCallId);
    expect(result).toMatchObject({ status: "accepted" });
    expect(result.agent_turn_id).not.toBe(foreign.agentTurnId);
  });

  test("[UTP-11.3-3] [UTP-W01-R1] depth grows with every delegation", async () => {
    await using world = await startPmoWorld();
    const first = await world.ask("delegate_async", { ...WORKER, target_ref: "Boss" });
    await world.serve();
    const [child] = await world.children(first.agentTurnId);
    const work = await world.takeWork(child?.agentId ?? "");
    expect(work).toMatchObject({ recursionDepth: 1, parentAgentTurnId: first.agentTurnId });
    await world.engine.turns.release(work);
  });

  test("[UTP-11.1-6] the reply carries the lineage of the call", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("delegate_async", { ...WORKER });
    await world.serve();
    const view = await world.engine.calls.get({ projectId: PROJECT, toolCallId: asked.toolCallId });
    const [card] = await world.engine.cards.getCards(PROJECT, [view.resultCardId]);
    expect(card?.metadata).toMatchObject({
      function_name: "delegate_async",
      step_id: view.stepId,
      trace_id: view.traceId,
      agent_turn_id: asked.agentTurnId,
    });
  });

  test("[UTP-11.2-7] the context: inherited cards once each, the instruction by the tool, a pointer to the parent", async () => {
    await using world = await startPmoWorld();
    const { engine } = world;
    await engine.turns.spawn({
      projectId: PROJECT,
      agentId: BOSS,
      sourceAgentId: "sys.test",
      context: { instruction: "manage" },
    });
    const work = await world.takeWork(BOSS);
    await engine.turns.release(work);
    await engine.turns.stop({ projectId: PROJECT, agentTurnId: work.agentTurnId, actorId: "sys.test" });
    const asked = await world.ask("delegate_async", { ...WORKER });
    const { contextBoxId } = await world.turn(asked.agentTurnId);
    await world.serve();
    const again = await world.resultOf(asked.toolCallId);
    expect(again.result.status).toBe("accepted");

    await world
      .takeWork(BOSS)
      .then((resumed) => engine.turns.finish(resumed, { status: "success", deliverable: "ok" }));
    const second = await world.ask("delegate_async", { ...WORKER, context_box_id: contextBoxId });
    await world.serve();
    // The box of a turn that has ended is not the caller's any more.
    expect((await world.resultOf(second.toolCallId)).error).toMatchObject({ code: "bad_request" });

    await world
      .takeWork(BOSS)
      .then((resumed) => engine.turns.finish(resumed, { status: "success", deliverable: "ok" }));
    await engine.turns.spawn({
      projectId: PROJECT,
      agentId: BOSS,
      sourceAgentId: "sys.test",
      context: { instruction: "share what you were told" },
    });
    const sharing = await world.takeWork(BOSS);
    const own = await engine.boxes.loadBox(PROJECT, sharing.contextBoxId);
    const stepArgs = { ...WORKER, context_box_id: sharing.contextBoxId };
    const stepId = `step_${sharing.agentTurnId.replace("turn_", "")}_1`;
    await engine.turns.beginStep(sharing, stepId);
    await engine.turns.commitStep(sharing, {
      stepId,
      entries: [{ call: { toolName: "delegate_async", arguments: stepArgs } }],
    });
    await world.serve();
    const [child] = await world.children(sharing.agentTurnId);
    const box = await engine.boxes.loadBoxCards(PROJECT, child?.contextBoxId ?? "");
    expect(box?.slice(0, own?.cardIds.length).map(({ card_id }) => card_id)).toEqual(own?.cardIds);
    expect(box?.slice(-2)).toMatchObject([
      { type: "task.instruction", author_id: "delegate_async", content: { text: WORKER.instruction } },
      { type: "meta.parent_pointer", content: { data: { parent_agent_id: BOSS } } },
    ]);
  });

  test("[UTP-11.3-1] [UTP-11.2-5] a refusal by the guard leaves nothing behind", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("delegate_async", { ...WORKER, target_ref: "Chef" });
    const before = await queryTestDatabase(world.test.database.url, LEFT_BEHIND);
    await world.serve();
    expect(await world.resultOf(asked.toolCallId)).toMatchObject({
      status: "failed",
      error: { code: "auth_failed" },
      result: { error_code: "auth_failed" },
    });
    expect(await queryTestDatabase(world.test.database.url, LEFT_BEHIND)).toEqual(before);
  });

  test("[UTP-11.1-5] [UTP-11.3-1] the depth limit is told as data, and leaves nothing behind", async () => {
    await using world = await startPmoWorld({ turns: { maxDepth: 1 } });
    const asked = await world.ask("delegate_async", { ...WORKER });
    const before = await queryTestDatabase(world.test.database.url, LEFT_BEHIND);
    await world.serve();
    expect(await world.resultOf(asked.toolCallId)).toMatchObject({
      status: "success",
      result: { status: "rejected", error_code: "recursion_depth_exceeded", agent_id: expect.any(String) },
    });
    expect(await queryTestDatabase(world.test.database.url, LEFT_BEHIND)).toEqual(before);
  });
});

describe("a command that comes again", () => {
  test("[UTP-11.1-8] [UTP-W27-R3] [UTP-W27-T1] makes no second child, also when a manager died before it could answer", async () => {
    await using world = await startPmoWorld();
    const { engine } = world;
    const asked = await world.ask("delegate_async", { ...WORKER });
    const [leased] = await world.claim();
    const gateway = createEngineGateway({
      engine,
      projectId: PROJECT,
      actorId: PMO_SERVICE.actor,
      holder: "mute",
      clock: systemClock,
      random: Math.random,
    });
    const mute = createRunner({
      gateway: { ...gateway, settle: () => Promise.reject(new ToolplaneError("lease_lost", "cut off")) },
      executor: createPmo({ engine }).executor,
      ...PMO_SERVICE,
      log: silentLog,
    });
    const command = leased && {
      ...leased.command,
      lease: { id: leased.lease.id, expiresAt: leased.lease.expiresAt.getTime() },
      card: JSON.parse(leased.cardBody) as unknown,
    };
    expect(command && (await mute.handle(command))).toMatchObject({ outcome: "lost" });
    const [first] = await world.children(asked.agentTurnId);
    // The profile changes meanwhile: the child that was made is found all the same.
    await engine.profiles.upsertProfile(PROJECT, { name: "Worker", worker_target: "attic" });
    await letPass(world.test, asked.toolCallId, "lease");
    await engine.expire();
    await meddle(world.test, "offerCall", [asked.toolCallId]);
    expect(await world.serve()).toMatchObject([{ outcome: "settled", status: "success" }]);
    const children = await world.children(asked.agentTurnId);
    expect(children.map(({ agentTurnId }) => agentTurnId)).toEqual([first?.agentTurnId]);
    expect((await world.resultOf(asked.toolCallId)).result).toMatchObject({
      status: "accepted",
      agent_turn_id: first?.agentTurnId,
      agent_id: first?.agentId,
    });
  });

  test("[UTP-11.1-8] a run that lost its lease makes nothing", async () => {
    await using world = await startPmoWorld();
    const { toolCallId } = await world.ask("delegate_async", { ...WORKER });
    const [leased] = await world.claim();
    await world.engine.calls.cancel({ projectId: PROJECT, toolCallId, reason: "changed our mind" });
    expect(leased && (await world.run(leased))).toMatchObject({ outcome: expect.stringMatching(/late|lost|canceled/) });
    expect(await queryTestDatabase(world.test.database.url, TURNS_LIKE, ["delegate_%"])).toEqual([]);
  });

  test("[UTP-11.1-8] a run whose call went to another manager makes nothing, also when it comes first", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("delegate_async", { ...WORKER });
    const [first] = await world.claim();
    await letPass(world.test, asked.toolCallId, "lease");
    await world.engine.expire();
    await meddle(world.test, "offerCall", [asked.toolCallId]);
    const [second] = await world.claim();
    expect(first && (await world.run(first))).toMatchObject({ outcome: "lost" });
    expect(await world.children(asked.agentTurnId)).toEqual([]);
    expect(second && (await world.run(second))).toMatchObject({ outcome: "settled", status: "success" });
    expect(await world.children(asked.agentTurnId)).toHaveLength(1);
  });

  test("[UTP-11.1-8] two runs of one call at once make one child", async () => {
    await using world = await startPmoWorld();
    const asked = await world.ask("delegate_async", { ...WORKER });
    const [leased] = await world.claim();
    const other = await world.test.another();
    await Promise.all([leased && world.run(leased), leased && world.run(leased, other)]);
    expect(await world.children(asked.agentTurnId)).toHaveLength(1);
  });
});
