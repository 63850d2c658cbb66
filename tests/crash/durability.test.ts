// The server dies a moment after it has answered, before its background writer had a turn: what a caller was told is on
// the disk, or the answer was a lie.

import { createEngine, type Engine, type LeasedCall, stepIdOf } from "@toolplane/engine";
import { isToolplaneError } from "@toolplane/protocol";
import {
  CRASH_PROJECT,
  queryTestDatabase,
  SERVED_TARGET,
  sharedPostgres,
  startMortalServer,
  toolUpload,
  until,
} from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { takeTurn } from "./take-turn.ts";

// Only commits that wait for the disk get there: the background writer is not fast enough for a test.
const LAZY = { wal_writer_delay: "10s" };

let server: Awaited<ReturnType<typeof startMortalServer>>;
let engine: Engine;

beforeAll(async () => {
  server = await startMortalServer(LAZY);
  engine = await createEngine({ connection: { connectionString: server.url }, watchdog: false, leaseSeconds: 600 });
});

afterAll(async () => {
  await engine.close();
  await server[Symbol.asyncDispose]();
});

const dispatch = (toolName: string) => engine.calls.dispatch({ projectId: CRASH_PROJECT, toolName, arguments: {} });

const claim = async (): Promise<LeasedCall> => {
  const request = { projectId: CRASH_PROJECT, target: SERVED_TARGET, holder: "holder", max: 1 };
  const [call] = await engine.calls.claim(request, 5_000);
  if (call === undefined) throw new RangeError("there is nothing to claim");
  return call;
};

const AT_ONCE = { projectId: CRASH_PROJECT, holder: "holder", max: 1 };

const heldOf = ({ facts, lease }: LeasedCall) => ({
  projectId: facts.projectId,
  toolCallId: facts.toolCallId,
  actorId: facts.actorId,
  leaseId: lease.id,
});

/** The server dies now; what the statement finds after its return. */
const afterDeath = async (text: string, values: unknown[]) => {
  await server.killAndRestart();
  const rows = await queryTestDatabase(server.url, text, values);
  // The engine finds its way back before the next step.
  const isBack = () =>
    engine.databaseNow().then(
      () => true,
      (error: unknown) => isToolplaneError(error) && error.code !== "storage_error",
    );
  await until("the engine to be connected again", isBack);
  return rows;
};

test("the server that dies is of the version this run is about", async () => {
  const [row] = await queryTestDatabase(server.url, "select current_setting('server_version') as version");
  expect(row?.version).toContain((await sharedPostgres()).version);
});

const STATE = "select status, lease_id from state.calls where tool_call_id = $1";

describe("a moment after the answer the server dies, and", () => {
  test("[CRASH-3] a dispatched call is there", async () => {
    const { toolCallId } = await dispatch("unsafe");
    expect(await afterDeath(STATE, [toolCallId])).toEqual([{ status: "queued", lease_id: null }]);
    await engine.calls.cancel({ projectId: CRASH_PROJECT, toolCallId });
  });

  test("[CRASH-3] the lease of an unsafe tool holds: it is never offered a second time", async () => {
    await dispatch("unsafe");
    const call = await claim();
    expect(await afterDeath(STATE, [call.facts.toolCallId])).toEqual([{ status: "running", lease_id: call.lease.id }]);
    const outcome = { given: { status: "success", result: {} } };
    expect(await engine.calls.settle({ ...heldOf(call), outcome })).toMatchObject({ status: "success" });
  });

  test("[CRASH-3] the lease of a safe tool, which does not wait for the disk, is gone: the call is offered again", async () => {
    await dispatch("safe");
    const call = await claim();
    expect(await afterDeath(STATE, [call.facts.toolCallId])).toEqual([{ status: "queued", lease_id: null }]);
    const again = await claim();
    expect(again.facts.toolCallId).toBe(call.facts.toolCallId);
    const outcome = { given: { status: "success", result: {} } };
    await expect(engine.calls.settle({ ...heldOf(call), outcome })).rejects.toMatchObject({ code: "lease_lost" });
    expect(await engine.calls.settle({ ...heldOf(again), outcome })).toMatchObject({ status: "success" });
  });

  // Forgotten, it would let another call start while the run goes on: more at once than the limit, or two in a session.
  test.each<[string, object]>([
    ["of a limited tool", { concurrency: 1 }],
    ["of a tool with a rate, and its token,", { rate: { limit: 1, per_seconds: 3_600 } }],
    ["in a session", { session: "agent" }],
  ])("[CRASH-3] the lease of a safe call %s holds", async (what, limits) => {
    const toolName = `held_${Object.keys(limits).join("")}`;
    const options = { retry: "safe", timeout_seconds: 60, ...limits };
    await engine.tools.upsertTool(CRASH_PROJECT, toolUpload({ name: toolName, target: SERVED_TARGET, options }));
    await dispatch(toolName);
    const call = await claim();
    const { toolCallId } = call.facts;
    expect([what, ...(await afterDeath(STATE, [toolCallId]))]).toEqual([
      what,
      { status: "running", lease_id: call.lease.id },
    ]);
    const other = await dispatch(toolName);
    expect(await engine.calls.claim({ ...AT_ONCE, target: SERVED_TARGET })).toEqual([]);
    await engine.calls.cancel({ projectId: CRASH_PROJECT, toolCallId: other.toolCallId });
    const outcome = { given: { status: "success", result: {} } };
    expect(await engine.calls.settle({ ...heldOf(call), outcome })).toMatchObject({ status: "success" });
  });

  test("[CRASH-3] a settled call is settled", async () => {
    await dispatch("unsafe");
    const call = await claim();
    const outcome = { given: { status: "success", result: { n: 1 } } };
    const settled = await engine.calls.settle({ ...heldOf(call), outcome });
    const found = "select status, result_card_id from state.calls where tool_call_id = $1";
    expect(await afterDeath(found, [call.facts.toolCallId])).toEqual([
      { status: "success", result_card_id: settled.toolResultCardId },
    ]);
    expect(await engine.calls.settle({ ...heldOf(call), outcome })).toEqual({ ...settled, idempotent: true });
  });

  test("[CRASH-3] a released call is free", async () => {
    await dispatch("unsafe");
    const call = await claim();
    await engine.calls.release(heldOf(call));
    expect(await afterDeath(STATE, [call.facts.toolCallId])).toEqual([{ status: "queued", lease_id: null }]);
    await engine.calls.cancel(heldOf(call));
  });

  test("[CRASH-3] a canceled call is canceled", async () => {
    const { toolCallId } = await dispatch("unsafe");
    expect(await engine.calls.cancel({ projectId: CRASH_PROJECT, toolCallId })).toMatchObject({ canceled: true });
    expect(await afterDeath(STATE, [toolCallId])).toEqual([{ status: "canceled", lease_id: null }]);
  });

  test("[CRASH-3] a step is dispatched and its agent suspended", async () => {
    const work = await takeTurn(engine);
    const step = await engine.turns.commitStep(work, {
      stepId: stepIdOf(work.agentTurnId, 1),
      entries: [{ call: { toolName: "safe", arguments: {} } }],
    });
    const found = `select h.status, c.tool_call_id from state.heads h
      join state.calls c on c.agent_turn_id = h.active_agent_turn_id where h.agent_id = $1`;
    expect(await afterDeath(found, [work.agentId])).toEqual([
      { status: "suspended", tool_call_id: step.calls[0]?.toolCallId },
    ]);
  });

  test("[CRASH-3] a published message is there", async () => {
    const subject = `cg.v1r4.${CRASH_PROJECT}.public.evt.agent.desk.ping`;
    await engine.bus.publish([{ subject, headers: {}, payload: "ping", messageId: "ping-1" }]);
    expect(await afterDeath("select payload from bus.messages where message_id = $1", ["ping-1"])).toEqual([
      { payload: "ping" },
    ]);
  });
});
