// Delegation by a direct call, over HTTP and in process: the agent in whose name the call is made is the parent, and the
// chain is as deep as if the agent had asked in a turn. However the links are made, the limit ends them.
// Doors: HTTP, in process

import { isToolplaneError, type JsonObject } from "@toolplane/protocol";
import { queryTestDatabase } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { requestOver, tokenOf } from "./pmo-http.ts";
import { COMMAND_DEPTHS } from "./pmo-world.sql.ts";
import { BOSS, type PmoWorld, PROJECT, startPmoWorld, WORKER } from "./pmo-world.ts";

const SUCCESSOR = { ...WORKER, target_ref: "Boss" } as const;

/** Asks in an agent's name outside of its turns; answers with the call's id. */
type Door = (world: PmoWorld, agentId: string, toolName: string, args: JsonObject) => Promise<string>;

const overHttp: Door = async (world, agentId, tool_name, args) => {
  const body = { tool_name, arguments: args };
  return (await requestOver(world, await tokenOf(world, agentId), "POST", "/calls", body)).body.tool_call_id;
};

const inProcess: Door = async (world, agentId, toolName, args) =>
  (await world.engine.calls.dispatch({ projectId: PROJECT, toolName, arguments: args, agentId })).toolCallId;

const codeOf = (error: unknown): string => (isToolplaneError(error) ? error.code : String(error));

/** What becomes of a call that says how deep its agent is. */
const sayDepth = async (
  world: PmoWorld,
  door: Door,
  agentId: string,
  depth: number,
  idempotencyKey?: string,
): Promise<string> => {
  if (door === inProcess) {
    const asked = { projectId: PROJECT, toolName: "slow", arguments: {}, agentId, saidDepth: depth, idempotencyKey };
    return world.engine.calls.dispatch(asked).then(({ idempotent }) => (idempotent ? "found" : "made"), codeOf);
  }
  const headers = {
    "CG-Recursion-Depth": String(depth),
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
  };
  const token = await tokenOf(world, agentId);
  const before = (await world.engine.calls.list(PROJECT, { limit: 100 })).length;
  const { body } = await requestOver(world, token, "POST", "/calls", { tool_name: "slow", arguments: {} }, headers);
  const isNew = (await world.engine.calls.list(PROJECT, { limit: 100 })).length > before;
  return body.error?.code ?? (isNew ? "made" : "found");
};

/** The child of a direct delegation, or what was said instead. */
const delegate = async (world: PmoWorld, door: Door, agentId: string, args: JsonObject = SUCCESSOR) => {
  const toolCallId = await door(world, agentId, "delegate_async", args);
  await world.serve();
  const { result } = await world.resultOf(toolCallId);
  return { toolCallId, result, agentId: String(result.agent_id), turnId: String(result.agent_turn_id) };
};

describe.each<[string, Door]>([
  ["over HTTP", overHttp],
  ["in process", inProcess],
])("a direct call in an agent's name, %s", (_name, door) => {
  test("[UTP-11.3-D1] the agent is the parent of the child it delegates to, one level above it", async () => {
    await using world = await startPmoWorld();
    const { toolCallId, turnId } = await delegate(world, door, BOSS);
    const child = await world.turn(turnId);
    expect(child).toMatchObject({ recursionDepth: 1, parentAgentId: BOSS, parentAgentTurnId: `turn_${toolCallId}` });
    const seen = await requestOver(world, await tokenOf(world, BOSS), "GET", `/turns/${turnId}`);
    expect(seen.status).toBe(200);
  });

  test("[UTP-2.7-D1] links made one after the other end at the limit, and the refused one leaves nothing", async () => {
    await using world = await startPmoWorld({ turns: { maxDepth: 4 } });
    let agentId = BOSS;
    const depths: number[] = [];
    let link = await delegate(world, door, agentId);
    while (link.result.status === "accepted" && depths.length < 6) {
      depths.push((await world.turn(link.turnId)).recursionDepth);
      agentId = link.agentId;
      link = await delegate(world, door, agentId);
    }
    expect(depths).toEqual([1, 2, 3]);
    expect(link.result).toMatchObject({ status: "rejected", error_code: "recursion_depth_exceeded" });
    expect(await world.engine.agents.getAgent(PROJECT, link.agentId)).toBeUndefined();
  });

  test("[UTP-2.7-D1] a child whose turn has ended stays as deep as it was made, and its command says so", async () => {
    await using world = await startPmoWorld();
    const { agentId } = await delegate(world, door, BOSS);
    await world.finish(agentId);
    const toolCallId = await door(world, agentId, "slow", {});
    const url = world.test.database.url;
    expect(await queryTestDatabase(url, COMMAND_DEPTHS, [toolCallId])).toEqual([{ depth: 1, header: "1" }]);
    const next = await delegate(world, door, agentId);
    expect((await world.turn(next.turnId)).recursionDepth).toBe(2);
  });

  test("[DOOR-1-6] [UTP-2.7-D1] may say how deep the agent is; another depth is refused and makes nothing", async () => {
    await using world = await startPmoWorld();
    const { agentId } = await delegate(world, door, BOSS);
    await world.finish(agentId);
    const calls = async () => (await world.engine.calls.list(PROJECT, { limit: 100 })).length;
    const before = await calls();
    for (const said of [0, 2, 19]) expect(await sayDepth(world, door, agentId, said)).toBe("protocol_violation");
    expect(await calls()).toBe(before);
    expect(await sayDepth(world, door, agentId, 1)).toBe("made");
    // What the first call taught the engine about the agent changes nothing.
    expect(await sayDepth(world, door, agentId, 0)).toBe("protocol_violation");
    expect(await sayDepth(world, door, BOSS, 1)).toBe("protocol_violation");
    expect(await sayDepth(world, door, BOSS, 0)).toBe("made");
  });

  test("[DOOR-1-6] a used key answers the depth that its call was made at, and no other", async () => {
    await using world = await startPmoWorld();
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "deputy", profile_name: "Boss" });
    expect(await sayDepth(world, door, "deputy", 0, "k")).toBe("made");
    for (const said of [1, 19]) expect(await sayDepth(world, door, "deputy", said, "k")).toBe("protocol_violation");
    // The agent is deeper now; the request of before is still the same request.
    await delegate(world, door, BOSS, { ...SUCCESSOR, target_strategy: "reuse", target_ref: "deputy" });
    expect(await sayDepth(world, door, "deputy", 0, "k")).toBe("found");
    expect(await sayDepth(world, door, "deputy", 1, "k")).toBe("protocol_violation");
  });

  test("[UTP-2.7-D1] an agent in a turn is as deep as the turn", async () => {
    await using world = await startPmoWorld();
    await world.engine.agents.upsertAgent(PROJECT, { agent_id: "deputy", profile_name: "Boss" });
    const reuse = { ...SUCCESSOR, target_strategy: "reuse", target_ref: "deputy" };
    await delegate(world, door, BOSS, reuse);
    const inTurn = await delegate(world, door, "deputy");
    expect((await world.turn(inTurn.turnId)).recursionDepth).toBe(2);
    await world.finish("deputy");
    const afterwards = await delegate(world, door, "deputy");
    expect((await world.turn(afterwards.turnId)).recursionDepth).toBe(1);
  });

  test("[UTP-11.3-D1] fork_join: every child has the agent as parent, one level above it", async () => {
    await using world = await startPmoWorld();
    const { agentId } = await delegate(world, door, BOSS);
    const toolCallId = await door(world, agentId, "fork_join", { tasks: [SUCCESSOR, SUCCESSOR] });
    await world.serve();
    const children = await world.children(`turn_${toolCallId}`);
    expect(children.map(({ recursionDepth, parentAgentId }) => [recursionDepth, parentAgentId])).toEqual([
      [2, agentId],
      [2, agentId],
    ]);
    const made = await delegate(world, door, children[0]?.agentId ?? "");
    expect((await world.turn(made.turnId)).recursionDepth).toBe(3);
  });

  test.each<[string, JsonObject]>([
    ["launch_principal", { profile_name: "Boss", instruction: "go" }],
    ["ask_expert", { expert_profile: "Boss", question: "why?" }],
  ])("[UTP-11.3-D1] %s likewise", async (toolName, args) => {
    await using world = await startPmoWorld();
    const { agentId } = await delegate(world, door, BOSS);
    const toolCallId = await door(world, agentId, toolName, args);
    await world.serve();
    const [child] = await world.children(`turn_${toolCallId}`);
    expect(child).toMatchObject({ recursionDepth: 2, parentAgentId: agentId });
  });
});

describe("turns an agent starts with its own token", () => {
  test("[UTP-2.7-D2] a turn for another agent is one deeper; a turn for itself does not lift it to the top", async () => {
    await using world = await startPmoWorld();
    const { agentId } = await delegate(world, overHttp, BOSS);
    await world.finish(agentId);
    const token = await tokenOf(world, agentId);
    const ask = async (target: string) =>
      (await requestOver(world, token, "POST", `/agents/${target}/turns`, { instruction: "go on" })).body;
    expect(await ask(BOSS)).toMatchObject({ recursion_depth: 2, parent_agent_id: agentId });
    expect(await ask(agentId)).toMatchObject({ recursion_depth: 1 });
    await world.finish(agentId);
    expect(await ask(agentId)).toMatchObject({ recursion_depth: 1 });
  });

  test("[DOOR-1-6] a turn may say how deep the asking agent is; another depth is refused", async () => {
    await using world = await startPmoWorld();
    const { agentId } = await delegate(world, overHttp, BOSS);
    await world.finish(agentId);
    const token = await tokenOf(world, agentId);
    const ask = (depth: number, target = BOSS) => {
      const headers = { "CG-Recursion-Depth": String(depth), "Idempotency-Key": `for ${target}` };
      return requestOver(world, token, "POST", `/agents/${target}/turns`, { instruction: "go on" }, headers);
    };
    for (const depth of [0, 2]) expect((await ask(depth)).body.error.code).toBe("protocol_violation");
    expect((await ask(1)).body).toMatchObject({ recursion_depth: 2 });
    expect((await ask(1, agentId)).body).toMatchObject({ recursion_depth: 1 });
    // The same under keys that were used.
    for (const target of [BOSS, agentId]) {
      for (const depth of [0, 2]) expect((await ask(depth, target)).body.error?.code).toBe("protocol_violation");
      expect((await ask(1, target)).status).toBe(202);
    }
  });

  test("[UTP-2.7-D2] in a turn, what the agent starts is one deeper than the turn", async () => {
    await using world = await startPmoWorld();
    const { agentId, turnId } = await delegate(world, overHttp, BOSS);
    const token = await tokenOf(world, agentId);
    const asked = await requestOver(world, token, "POST", `/agents/${agentId}/turns`, { instruction: "again" });
    expect(asked.body).toMatchObject({
      recursion_depth: 2,
      parent_agent_id: agentId,
      parent_agent_turn_id: turnId,
    });
  });
});
