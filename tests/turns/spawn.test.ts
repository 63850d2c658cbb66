// Spawning: who may ask, what a turn starts from, how deep it is, and that asking twice is asking once.

import { codeOf, fingerprint, meddle } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import {
  addAgent,
  advance,
  asking,
  call,
  commit,
  events,
  mustWork,
  POOL,
  startCarriedWorld,
  startTurnWorld,
  takeTurn,
} from "./turn-world.ts";

const TRACE = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";

test("[UTP-6.3-1] the engine mints the turn's id; a correlation names the request and never becomes the id", async () => {
  await using t = await startTurnWorld();
  const named = await t.engine.turns.spawn(asking(t, { correlationId: "order-1" }));
  const plain = await t.engine.turns.spawn(asking(t));
  expect(named.agentTurnId).toMatch(/^turn_[0-9a-f]{32}$/);
  expect(named.correlationId).toBe("order-1");
  expect(plain.correlationId).toBe(plain.agentTurnId);
});

test("[UTP-3-15] [UTP-2.7-2] [UTP-6.3-2] [UTP-6.3-4] [UTP-6.3-5] the row, the edge and the headers of a spawned turn", async () => {
  await using t = await startTurnWorld();
  const parent = await takeTurn(t, { traceparent: TRACE });
  await addAgent(t, "child");
  const lineage = { agentId: parent.agentId, agentTurnId: parent.agentTurnId, stepId: "step_x" };
  const child = await t.engine.turns.spawn(asking(t, { agentId: "child", sourceAgentId: "helper", lineage }));
  expect(child).toMatchObject({ turnEpoch: 1, recursionDepth: 1, traceId: parent.traceId });
  const [row] = await t.rows<{ status: string; headers: Record<string, string>; payload: object }>(
    "select status, context_headers::json as headers, payload::json as payload from state.inbox where agent_id = 'child'",
  );
  expect(row).toMatchObject({
    status: "pending",
    headers: {
      "CG-Agent-Id": "child",
      "CG-Turn-Id": child.agentTurnId,
      "CG-Recursion-Depth": "1",
      "CG-Parent-Agent-Id": "helper",
      "CG-Parent-Turn-Id": parent.agentTurnId,
      "CG-Parent-Step-Id": "step_x",
    },
    payload: { context_box_id: child.contextBoxId, output_box_id: child.outputBoxId, profile_box_id: "profile-box" },
  });
  expect(row?.headers["CG-Step-Id"]).toBeUndefined();
  expect(row?.headers.traceparent).toMatch(/^00-0123456789abcdef0123456789abcdef-(?!0123456789abcdef)[0-9a-f]{16}-01$/);
  const edges = await t.rows(
    "select primitive, edge_phase, source_agent_id, source_turn_id, source_step_id, target_agent_id, target_turn_id, recursion_depth from state.execution_edges where target_agent_id = 'child'",
  );
  expect(edges).toEqual([
    {
      primitive: "enqueue",
      edge_phase: "request",
      source_agent_id: "helper",
      source_turn_id: parent.agentTurnId,
      source_step_id: "step_x",
      target_agent_id: "child",
      target_turn_id: child.agentTurnId,
      recursion_depth: 1,
    },
  ]);
});

test("[UTP-6.3-5] a turn behind another is queued: no epoch yet, and no bell", async () => {
  await using t = await startCarriedWorld();
  const first = await t.engine.turns.spawn(asking(t));
  const second = await t.engine.turns.spawn(asking(t));
  expect([first.turnEpoch, second.turnEpoch]).toEqual([1, null]);
  expect(await t.engine.turns.get(second)).toMatchObject({ status: "queued", dispatchedAt: null });
  expect(await t.rows("select id from bus.messages where category = 'cmd'")).toHaveLength(1);
});

test("[UTP-6.3-3] [INV-I9-T1] depth is computed from the stored lineage: descend, peer, root, and the limit", async () => {
  await using t = await startTurnWorld({ turns: { maxDepth: 2 } });
  for (const agent of ["a", "b", "c", "d"]) await addAgent(t, agent);
  const top = await t.engine.turns.spawn(asking(t));
  const under = (from: { agentId: string; agentTurnId: string }) => ({
    agentId: from.agentId,
    agentTurnId: from.agentTurnId,
  });
  const one = await t.engine.turns.spawn(asking(t, { agentId: "a", lineage: under(top) }));
  expect(one.recursionDepth).toBe(1);
  expect(
    (await t.engine.turns.spawn(asking(t, { agentId: "b", lineage: under(one), depthPolicy: "peer" }))).recursionDepth,
  ).toBe(1);
  const root = await t.engine.turns.spawn(asking(t, { agentId: "c", lineage: under(one), depthPolicy: "root" }));
  expect(root.recursionDepth).toBe(0);
  expect(await t.engine.turns.get(root)).toMatchObject({ parentAgentTurnId: null, parentAgentId: null });
  const before = await fingerprint(t);
  expect(await codeOf(t.engine.turns.spawn(asking(t, { agentId: "d", lineage: under(one) })))).toBe(
    "recursion_depth_exceeded",
  );
  expect(await fingerprint(t)).toBe(before);
  const stored = await t.rows(
    "select agent_id, recursion_depth, (context_headers::json ->> 'CG-Recursion-Depth')::int as sent from state.inbox join state.turns using (project_id, agent_turn_id, agent_id) order by agent_id",
  );
  expect(stored).toEqual([
    { agent_id: "a", recursion_depth: 1, sent: 1 },
    { agent_id: "b", recursion_depth: 1, sent: 1 },
    { agent_id: "c", recursion_depth: 0, sent: 0 },
    { agent_id: "helper", recursion_depth: 0, sent: 0 },
  ]);
});

test("a direct call may be the lineage of a turn; a turn that is not there may not", async () => {
  await using t = await startTurnWorld();
  const made = await t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {} });
  const child = await t.engine.turns.spawn(
    asking(t, { lineage: { agentId: "sys.api", agentTurnId: made.agentTurnId } }),
  );
  expect(child).toMatchObject({ recursionDepth: 1, traceId: made.traceId });
  const lost = asking(t, { lineage: { agentId: "helper", agentTurnId: "turn_nowhere" } });
  expect(await codeOf(t.engine.turns.spawn(lost))).toBe("protocol_violation");
});

test("[UTP-6.3-4] the same correlation and request is the same turn; another request under it is refused (T4)", async () => {
  await using t = await startTurnWorld();
  await addAgent(t, "other");
  const request = asking(t, { correlationId: "order-7" });
  const [one, two] = await Promise.all([t.engine.turns.spawn(request), t.engine.turns.spawn(request)]);
  expect(two.agentTurnId).toBe(one.agentTurnId);
  expect([one.idempotent, two.idempotent].sort()).toEqual([false, true]);
  const before = await fingerprint(t);
  expect((await t.engine.turns.spawn(request)).idempotent).toBe(true);
  expect(await codeOf(t.engine.turns.spawn({ ...request, context: { instruction: "something else" } }))).toBe(
    "idempotency_conflict",
  );
  expect(await fingerprint(t)).toBe(before);
});

test("[INV-I12-T1] a correlation is its asker's, for one agent: others may use the same word, and each finds its own turn again", async () => {
  await using t = await startTurnWorld();
  for (const agentId of ["other", "ann", "bob"]) await addAgent(t, agentId);
  const request = asking(t, { correlationId: "order-7", aliasId: "message-7" });
  const asked = [
    request,
    { ...request, agentId: "other" },
    { ...request, sourceAgentId: "ann" },
    { ...request, sourceAgentId: "bob" },
  ];
  const spawnAll = () => Promise.all(asked.map((one) => t.engine.turns.spawn(one)));
  const made = await spawnAll();
  expect(new Set(made.map(({ agentTurnId }) => agentTurnId)).size).toBe(4);
  const again = await spawnAll();
  expect(again.map(({ agentTurnId }) => agentTurnId)).toEqual(made.map(({ agentTurnId }) => agentTurnId));
  expect(again.every(({ idempotent }) => idempotent)).toBe(true);
  // Each has its own edge, too.
  const edges = await t.rows<{ turn: string }>(
    "select target_turn_id as turn from state.edges where correlation_id = 'order-7' and primitive = 'enqueue'",
  );
  expect(edges.map(({ turn }) => turn).sort()).toEqual(made.map(({ agentTurnId }) => agentTurnId).sort());
});

describe("[UTP-6-1] [UTP-6.10-1] what is refused leaves nothing behind:", () => {
  test("[UTP-4.6-E4] an unknown agent, source, box, lineage or project, an inactive agent, an empty instruction", async () => {
    await using t = await startTurnWorld();
    await addAgent(t, "sleeper");
    await meddle(t, "putAgentToSleep");
    await meddle(t, "addBareAgent", [t.projectId, POOL]);
    await t.engine.projects.createProject({ project_id: "far", title: "Far", bootstrap: false }, "sys.test");
    const theirs = await t.engine.boxes.createBox("far", []);
    const before = await fingerprint(t);
    const spawn = (more: object): Promise<string> => codeOf(t.engine.turns.spawn(asking(t, more)));
    expect(await spawn({ agentId: "nobody" })).toBe("not_found");
    expect(await spawn({ agentId: "a b" })).toBe("not_found");
    expect(await spawn({ agentId: "sleeper" })).toBe("conflict");
    expect(await spawn({ agentId: "bare" })).toBe("bad_request");
    expect(await spawn({ sourceAgentId: "stranger" })).toBe("invalid_source_actor");
    expect(await spawn({ sourceAgentId: "sleeper" })).toBe("invalid_source_actor");
    expect(await spawn({ projectId: "elsewhere" })).toBe("not_found");
    expect(await spawn({ context: { boxId: "no-box" } })).toBe("not_found");
    expect(await spawn({ context: { instruction: "x", inheritBoxIds: ["no-box"] } })).toBe("not_found");
    for (const outputBoxId of ["no-box", theirs]) expect(await spawn({ outputBoxId })).toBe("not_found");
    expect(await spawn({ profileBoxId: "no-box" })).toBe("not_found");
    expect(await spawn({ context: { instruction: "  " } })).toBe("bad_request");
    expect(await spawn({ correlationId: "a\u0000b" })).toBe("bad_request");
    expect(await spawn({ traceparent: "nonsense" })).toBe("protocol_violation");
    expect(await fingerprint(t)).toBe(before);
  });

  test("two open turns with one output box", async () => {
    await using t = await startTurnWorld();
    await addAgent(t, "other");
    const first = await t.engine.turns.spawn(asking(t));
    expect(await codeOf(t.engine.turns.spawn(asking(t, { agentId: "other", outputBoxId: first.outputBoxId })))).toBe(
      "conflict",
    );
  });
});

test("what a turn starts from: inherited cards, the instruction, the fields of its result", async () => {
  await using t = await startTurnWorld();
  const old = await t.engine.boxes.createBox(t.projectId, ["card-1", "card-2"]);
  const made = await t.engine.turns.spawn(
    asking(t, {
      context: {
        inheritBoxIds: [old],
        instruction: "sum it up",
        resultFields: [{ name: "sum" }],
        packedBy: "tool.pack",
      },
    }),
  );
  const box = await t.engine.boxes.loadBox(t.projectId, made.contextBoxId);
  expect(box?.cardIds.slice(0, 2)).toEqual(["card-1", "card-2"]);
  const cards = await t.engine.cards.getCards(t.projectId, box?.cardIds ?? []);
  expect(cards.map(({ type, author_id }) => [type, author_id])).toEqual([
    ["task.instruction", "tool.pack"],
    ["task.result_fields", "tool.pack"],
  ]);
});

test("[UTP-2.5-T1] [UTP-2.5-8] one child of a fan-out has a trace of its own, linked to the parent's", async () => {
  await using t = await startTurnWorld();
  const child = await t.engine.turns.spawn(asking(t, { traceparent: TRACE, freshTrace: true }));
  expect(child.traceId).not.toBe("0123456789abcdef0123456789abcdef");
  const [row] = await t.rows<{ parent: string }>(
    "select context_headers::json ->> 'CG-Parent-Traceparent' as parent from state.inbox",
  );
  expect(row?.parent).toBe(TRACE);
});

test("[UTP-6.3-6] a ui_action for an agent that is busy is agent_busy and writes nothing", async () => {
  await using t = await startTurnWorld();
  await t.engine.turns.spawn(asking(t));
  const before = await fingerprint(t);
  const action = asking(t, { kind: "ui_action", context: { instruction: "" }, payload: { tool_name: "safe" } });
  expect(await codeOf(t.engine.turns.spawn(action))).toBe("agent_busy");
  expect(await fingerprint(t)).toBe(before);
  await addAgent(t, "free");
  expect(await t.engine.turns.spawn({ ...action, agentId: "free" })).toMatchObject({ turnEpoch: 1 });
  expect(mustWork(await advance(t, "free"))).toMatchObject({ kind: "ui_action", payload: { tool_name: "safe" } });
});

test("[UTP-6.9-1] the bell rings the pool the roster names at that moment; without one the turn waits", async () => {
  const warnings: string[] = [];
  const log = { info: () => {}, error: () => {}, warn: (text: string) => void warnings.push(text) };
  await using t = await startCarriedWorld({ log });
  const work = await takeTurn(t);
  await t.engine.turns.spawn(asking(t));
  await meddle(t, "moveAgents");
  await t.engine.turns.finish(work, { status: "success", deliverable: "done" });
  const subjects = await t.rows<{ subject: string }>(
    "select subject from bus.messages where category = 'cmd' order by id",
  );
  expect(subjects.map(({ subject }) => subject.split(".")[6])).toEqual([POOL, "pool_b"]);
  const next = mustWork(await advance(t));
  await t.engine.turns.spawn(asking(t));
  await meddle(t, "dropAgents");
  await t.engine.turns.finish(next, { status: "success", deliverable: "done" });
  expect(await t.rows("select id from bus.messages where category = 'cmd'")).toHaveLength(2);
  expect(warnings.filter((text) => text.includes("no worker_target"))).toHaveLength(1);
  expect(await t.rows("select status from state.inbox where status = 'pending'")).toHaveLength(1);
});

test("[UTP-6.8-2] dispatching moves an idle head only, with epoch+1, and clears what the last turn left", async () => {
  await using t = await startTurnWorld();
  const work = await takeTurn(t);
  await commit(t, work, call("safe"));
  await t.engine.turns.stop({ ...work, actorId: "sys.api" });
  const second = await t.engine.turns.spawn(asking(t));
  const [head] = await t.rows(
    "select status, active_agent_turn_id, turn_epoch::int as epoch, waiting_tool_count, chain_seq, chain_hash, last_output_box_id from state.heads",
  );
  expect(head).toEqual({
    status: "dispatched",
    active_agent_turn_id: second.agentTurnId,
    epoch: 3,
    waiting_tool_count: 0,
    chain_seq: 0,
    chain_hash: null,
    last_output_box_id: work.outputBoxId,
  });
});

test("[UTP-6.8-1] a queued turn that cannot run ends with its reason, and the next is dispatched", async () => {
  await using t = await startTurnWorld();
  const first = await takeTurn(t);
  const bad = await t.engine.turns.spawn(asking(t));
  const worse = await t.engine.turns.spawn(asking(t));
  const good = await t.engine.turns.spawn(asking(t));
  await meddle(t, "emptyHeadersOfTurn", [bad.agentTurnId]);
  await meddle(t, "shortenPayloadOfTurn", [worse.agentTurnId]);
  await t.engine.turns.finish(first, { status: "success", deliverable: "done" });
  expect(mustWork(await advance(t)).agentTurnId).toBe(good.agentTurnId);
  expect(await t.engine.turns.get(bad)).toMatchObject({ status: "failed", errorCode: "invalid_context" });
  expect(await t.engine.turns.get(worse)).toMatchObject({ status: "failed", errorCode: "missing_required_fields" });
  expect(await events(t, "task")).toHaveLength(3);
  expect(await t.rows("select defer_reason from state.inbox where status = 'error' order by created_at")).toEqual([
    { defer_reason: "invalid_context" },
    { defer_reason: "missing_required_fields" },
  ]);
});

test.each([
  ["[1]", "invalid_payload_type"],
  ["null", "invalid_payload_type"],
  ['"turn"', "invalid_payload_type"],
  ["{", "invalid_payload_json"],
])("[DOOR-9-1] a queued turn whose payload is %s ends with %s, and the next is dispatched", async (payload, code) => {
  await using t = await startTurnWorld();
  const first = await takeTurn(t);
  const bad = await t.engine.turns.spawn(asking(t));
  const good = await t.engine.turns.spawn(asking(t));
  await meddle(t, "setPayloadOfTurn", [bad.agentTurnId, payload]);
  await t.engine.turns.finish(first, { status: "success", deliverable: "done" });
  expect(mustWork(await advance(t)).agentTurnId).toBe(good.agentTurnId);
  expect(await t.engine.turns.get(bad)).toMatchObject({ status: "failed", errorCode: code });
});

test("inside somebody's transaction: nothing of the turn is there when it fails, all of it when it commits", async () => {
  await using t = await startTurnWorld();
  const before = await fingerprint(t);
  const failing = t.engine.db.transaction(async (tx) => {
    await t.engine.turns.spawn(asking(t), tx);
    throw new RangeError("the caller changed its mind");
  });
  await expect(failing).rejects.toThrow("changed its mind");
  expect(await fingerprint(t)).toBe(before);
  const made = await t.engine.db.transaction((tx) => t.engine.turns.spawn(asking(t), tx));
  expect(await t.engine.turns.get(made)).toMatchObject({ status: "dispatched", turnEpoch: 1 });
});

test("many at once: one turn per agent is dispatched, the rest queue in the order they came", async () => {
  await using t = await startTurnWorld();
  for (let i = 0; i < 5; i++) await addAgent(t, `agent_${i}`);
  const made = await Promise.all(
    Array.from({ length: 25 }, (_, i) => t.engine.turns.spawn(asking(t, { agentId: `agent_${i % 5}` }))),
  );
  expect(made.filter(({ turnEpoch }) => turnEpoch === 1)).toHaveLength(5);
  for (let i = 0; i < 5; i++) {
    const order: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const work = mustWork(await advance(t, `agent_${i}`));
      order.push(work.agentTurnId);
      await t.engine.turns.finish(work, { status: "success", deliverable: "done" });
    }
    expect(order).toEqual([...order].sort());
  }
  expect(await events(t, "task")).toHaveLength(25);
});
