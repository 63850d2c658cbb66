// What a person does in a user interface, over the bus alone: commands in, acknowledgements out.
// Doors: NATS

import { startUiActions, UI_WORKER_TARGET } from "@toolplane/agents";
import { createIds, silentLog, systemClock } from "@toolplane/engine";
import { isRecord } from "@toolplane/protocol";
import { defineTool } from "@toolplane/sdk";
import { eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NatsGround, openNatsGround } from "../carrier/nats-world.ts";
import { type AgentPlane, openAgentPlane } from "./support/agent-plane.ts";

const CLICK = defineTool({
  name: "click",
  description: "What a button does",
  parameters: { type: "object", properties: { what: { type: "string" } } } as const,
  retry: "safe",
  options: { ui_allowed: true },
  run: async ({ what }, { signal }) => {
    runs.push(String(what));
    if (what === "wait") await systemClock.sleep(60_000, signal);
    return what === "delegate" ? { status: "accepted", agent: "x" } : { clicked: what ?? null };
  },
});
const HIDDEN = defineTool({
  name: "hidden",
  description: "No button",
  parameters: { type: "object", properties: {} } as const,
  retry: "safe",
  run: async () => ({}),
});

const STUCK = defineTool({
  name: "stuck",
  description: "Never comes back",
  parameters: { type: "object", properties: {} } as const,
  retry: "safe",
  timeoutSeconds: 1,
  options: { ui_allowed: true },
  run: () => new Promise<never>(() => {}),
});

const runs: string[] = [];
const ids = createIds();
let ground: NatsGround;
let plane: AgentPlane;
let stop: () => Promise<void>;
const acks: Record<string, unknown>[] = [];

const listen = () =>
  ground.bare.listen("cg.v1r4.*.*.evt.sys.ui.action_ack", ({ payload }) => {
    const ack: unknown = JSON.parse(payload);
    if (isRecord(ack)) acks.push(ack);
  });

beforeAll(async () => {
  ground = await openNatsGround();
  plane = await openAgentPlane({ tools: [CLICK, HIDDEN, STUCK], engine: { carrier: await ground.carrier() } });
  const { engine, projectId } = plane;
  await engine.profiles.upsertProfile(projectId, { name: "screen", worker_target: UI_WORKER_TARGET });
  for (const agent_id of ["ann", "bob", "cleo", "dora"])
    await engine.agents.upsertAgent(projectId, { agent_id, profile_name: "screen" });
  await plane.agents("outsider");
  await plane.startWorker(() => "never asked", { workerTargets: [UI_WORKER_TARGET], lookMs: 200 });
  const actions = await startUiActions({ engine, ids, clock: systemClock, log: silentLog });
  await listen();
  stop = () => actions.stop();
});
afterAll(async () => {
  await stop();
  await plane[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const act = (
  agentId: string,
  payload: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = { "CG-Turn-Id": "turn_screen" },
): void => {
  const sent = { "CG-Agent-Id": agentId, traceparent: `00-${ids.traceId()}-${ids.spanId()}-01`, ...headers };
  const subject = `cg.v1r4.${plane.projectId}.public.cmd.sys.ui.action`;
  ground.bare.publish(subject, JSON.stringify(payload), { headers: sent });
};

const acksOf = (actionId: string) => acks.filter(({ action_id }) => action_id === actionId);
const heard = (actionId: string, count: number) =>
  eventually(() => (acksOf(actionId).length >= count ? acksOf(actionId) : undefined));
const headOf = async (agentId: string) => (await plane.engine.turns.list(plane.projectId, { agentId })).items;

describe("actions of people", () => {
  test("[UTP-13.1-9] [UTP-13.1-11] an action is accepted, carried out, and acknowledged as done when its turn has ended", async () => {
    act("ann", { action_id: "a1", tool_name: "click", args: { what: "ok" }, message_id: "m1" });
    const [first, second] = (await heard("a1", 2)) ?? [];
    expect(first).toMatchObject({ agent_id: "ann", status: "accepted", message_id: "m1" });
    expect(second).toMatchObject({ agent_id: "ann", status: "done", message_id: "m1" });
    const [turn] = await headOf("ann");
    expect(turn).toMatchObject({ kind: "ui_action", status: "success", endedAt: expect.any(String) });
    const [card] = await plane.engine.cards.getCards(plane.projectId, [String(second?.tool_result_card_id)]);
    expect(card?.content).toMatchObject({ status: "success", result: { clicked: "ok" } });
    const box = await plane.engine.boxes.loadBoxCards(plane.projectId, turn?.outputBoxId ?? "");
    expect(box?.map(({ type }) => type)).toContain("tool.result");
  });

  test("[UTP-13.1-9] it is accepted before it is done, however quick its turn is", async () => {
    const { engine, projectId } = plane;
    await engine.turns.spawn({
      projectId,
      agentId: "ann",
      sourceAgentId: "sys.test",
      kind: "ui_action",
      correlationId: "ui_action:quick",
      context: { instruction: "" },
      payload: { action_id: "quick", tool_name: "click", args: {}, message_id: "m9" },
    });
    const said = (await heard("quick", 2)) ?? [];
    expect(said.map(({ status, message_id }) => [status, message_id])).toEqual([
      ["accepted", "m9"],
      ["done", "m9"],
    ]);
  });

  test("[UTP-13.1-9] a tool's own word for its outcome is the acknowledgement's", async () => {
    act("ann", { action_id: "a2", tool_name: "click", args: { what: "delegate" } });
    const said = (await heard("a2", 2)) ?? [];
    expect(said.map(({ status }) => status)).toEqual(["accepted", "accepted"]);
  });

  test("[UTP-13.1-7] [UTP-13.1-8] [UTP-W28-T1] a repeated action runs once: busy while it runs, its outcome afterwards, and the head stays idle", async () => {
    const payload = { action_id: "a3", tool_name: "click", args: { what: "wait" } };
    act("bob", payload);
    await heard("a3", 1);
    await eventually(() => runs.includes("wait"));
    act("bob", payload);
    expect((await heard("a3", 2))?.[1]).toMatchObject({ status: "busy", error_code: "idempotency_inflight" });
    const [turn] = await headOf("bob");
    await plane.engine.turns.stop({
      projectId: plane.projectId,
      agentTurnId: turn?.agentTurnId ?? "",
      actorId: "sys.test",
    });
    expect((await heard("a3", 3))?.[2]).toMatchObject({ status: "rejected", error_code: "stopped" });
    act("bob", payload);
    expect((await heard("a3", 4))?.[3]).toMatchObject({ status: "rejected", error_code: "stopped" });
    expect(runs.filter((what) => what === "wait")).toHaveLength(1);
    expect(await headOf("bob")).toHaveLength(1);
  });

  test("[UTP-13.1-5] [UTP-6.3-6] an agent in another turn is busy, and nothing is written", async () => {
    act("cleo", { action_id: "a4", tool_name: "click", args: { what: "wait" } });
    await heard("a4", 1);
    act("cleo", { action_id: "a5", tool_name: "click", args: {} });
    expect((await heard("a5", 1))?.[0]).toMatchObject({ status: "busy", error_code: "agent_busy" });
    const turns = await headOf("cleo");
    expect(turns).toHaveLength(1);
    await plane.engine.turns.stop({
      projectId: plane.projectId,
      agentTurnId: turns[0]?.agentTurnId ?? "",
      actorId: "sys.test",
    });
  });

  test("[UTP-13.1-1] [UTP-13.1-2] [UTP-13.1-3] [UTP-13.1-4] every refusal is acknowledged with its code", async () => {
    const good = { tool_name: "click", args: {} };
    act("dora", { ...good, action_id: "r1", args: 7 });
    act("dora", { ...good, action_id: "r2" }, {});
    act("nobody", { ...good, action_id: "r3" });
    act("outsider", { ...good, action_id: "r4" });
    act("dora", { ...good, action_id: "r5", tool_name: "none" });
    act("dora", { ...good, action_id: "r6", tool_name: "hidden" });
    const codes: unknown[] = [];
    for (const id of ["r1", "r2", "r3", "r4", "r5", "r6"]) {
      const [ack] = (await heard(id, 1)) ?? [];
      expect(ack?.status).toBe("rejected");
      codes.push(ack?.error_code);
    }
    expect(codes).toEqual([
      "invalid_args",
      "missing_agent_turn_id",
      "agent_not_found",
      "invalid_worker_target",
      "tool_definition_missing",
      "ui_not_allowed",
    ]);
    expect(await headOf("dora")).toEqual([]);
  });

  test("[UTP-13.1-10] [UTP-W28-T1] an action whose tool never comes back ends by the tool's deadline", async () => {
    act("dora", { action_id: "a6", tool_name: "stuck", args: {} });
    expect((await heard("a6", 2))?.[1]).toMatchObject({ status: "rejected", error_code: "tool_timeout" });
    expect((await headOf("dora"))[0]).toMatchObject({ kind: "ui_action", status: "timeout" });
  });

  test("[UTP-13.1-12] an internal failure is acknowledged without its text", async () => {
    const { engine } = plane;
    const broken = {
      ...engine,
      tools: { ...engine.tools, getTool: () => Promise.reject(new TypeError("secret stack of the plane")) },
    };
    await stop();
    const actions = await startUiActions({ engine: broken, ids, clock: systemClock, log: silentLog });
    stop = () => actions.stop();
    act("ann", { action_id: "a7", tool_name: "click", args: {} });
    const [ack] = (await heard("a7", 1)) ?? [];
    expect(ack).toMatchObject({ status: "rejected", error_code: "internal_error" });
    expect(JSON.stringify(ack)).not.toContain("secret stack");
  });

  test("[UTP-13.1-1] an action without an id becomes a dead letter instead of vanishing", async () => {
    const before = (await plane.engine.deadLetters.list(plane.projectId)).length;
    act("dora", { tool_name: "click", args: {} });
    await eventually(async () => (await plane.engine.deadLetters.list(plane.projectId)).length === before + 1);
  });
});
