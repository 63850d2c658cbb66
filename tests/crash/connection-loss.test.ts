// The connection breaks around a commit: before the server saw the statement, while it runs it, or after it committed and
// before it said so. The caller gets the truth, and nothing is done twice or forgotten.

import { createEngine, type Engine, type LeasedCall, stepIdOf, type Work } from "@toolplane/engine";
import {
  CRASH_PROJECT,
  CUT_MOMENTS,
  type CutMoment,
  type DatabaseProxy,
  openCrashRun,
  queryTestDatabase,
  SERVED_TARGET,
  startDatabaseProxy,
  type TestRow,
} from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { takeTurn } from "./take-turn.ts";

interface Room extends AsyncDisposable {
  readonly engine: Engine;
  readonly proxy: DatabaseProxy;
  rows(text: string, values?: unknown[]): Promise<TestRow[]>;
}

const openRoom = async (): Promise<Room> => {
  const run = await openCrashRun();
  const proxy = await startDatabaseProxy(run.databaseUrl);
  const engine = await createEngine({
    connection: { connectionString: proxy.url },
    watchdog: false,
    maxConnections: 4,
  });
  return {
    engine,
    proxy,
    rows: (text, values) => queryTestDatabase(run.databaseUrl, text, values),
    async [Symbol.asyncDispose]() {
      await engine.close();
      await proxy[Symbol.asyncDispose]();
      await run[Symbol.asyncDispose]();
    },
  };
};

/** Statements that change calls take a moment, so that a broken connection leaves them running. */
const SLOW = `
create function slow_down() returns trigger language plpgsql as $$ begin perform pg_sleep(0.2); return null; end $$;
create trigger slow_calls after insert or update or delete on state.live_calls for each statement execute function slow_down()`;

const dispatch = (engine: Engine, item: string, toolName = "unsafe") =>
  engine.calls.dispatch({ projectId: CRASH_PROJECT, toolName, arguments: { item } });

const claim = (engine: Engine, waitMs = 0) =>
  engine.calls.claim({ projectId: CRASH_PROJECT, target: SERVED_TARGET, holder: "holder", max: 8 }, waitMs);

const settle = (engine: Engine, { facts, lease }: LeasedCall) =>
  engine.calls.settle({
    projectId: facts.projectId,
    toolCallId: facts.toolCallId,
    actorId: facts.actorId,
    leaseId: lease.id,
    outcome: { given: { status: "success", result: { done: true } } },
  });

const CALLS =
  "select tool_call_id, call_card_id, agent_turn_id, trace_id, status, lease_id, result_card_id from state.calls";

describe.each(CUT_MOMENTS)("a request that is %s", (moment: CutMoment) => {
  test.each([1, 5])("[CRASH-4] dispatch of %i: each is there once, as the caller was told", async (count) => {
    await using room = await openRoom();
    const cut = room.proxy.cut({ statement: "calls.dispatch-fresh/queued", moment });
    const items = Array.from({ length: count }, (_, index) => `item-${index}`);
    const made = await Promise.all(items.map((item) => dispatch(room.engine, item)));
    await cut;
    const rows = await room.rows(CALLS);
    const told = made.map(({ toolCallId, callCardId, agentTurnId, traceId }) => ({
      tool_call_id: toolCallId,
      call_card_id: callCardId,
      agent_turn_id: agentTurnId,
      trace_id: traceId,
    }));
    expect(
      rows
        .map(({ tool_call_id, call_card_id, agent_turn_id, trace_id }) => ({
          tool_call_id,
          call_card_id,
          agent_turn_id,
          trace_id,
        }))
        .sort((a, b) => String(a.tool_call_id).localeCompare(String(b.tool_call_id))),
    ).toEqual(told.sort((a, b) => a.tool_call_id.localeCompare(b.tool_call_id)));
    expect(await room.rows("select count(*)::int as cards from cards.cards")).toEqual([{ cards: count }]);
  });

  test("[CRASH-4] dispatch with a key is one call, and not a repeat of somebody else's", async () => {
    await using room = await openRoom();
    const cut = room.proxy.cut({ statement: "calls.dispatch", moment });
    const request = { projectId: CRASH_PROJECT, toolName: "unsafe", arguments: {}, idempotencyKey: "once" };
    const first = await room.engine.calls.dispatch(request);
    await cut;
    expect(first.idempotent).toBe(false);
    expect(await room.engine.calls.dispatch(request)).toEqual({ ...first, idempotent: true });
    expect(await room.rows(CALLS)).toHaveLength(1);
  });

  test("[CRASH-4] cancel: whoever asked is told that it is canceled, and whoever asks again that it was", async () => {
    await using room = await openRoom();
    const { toolCallId } = await dispatch(room.engine, "a");
    const cut = room.proxy.cut({ statement: "calls.end-direct", moment });
    const key = { projectId: CRASH_PROJECT, toolCallId };
    expect(await room.engine.calls.cancel(key)).toEqual({ canceled: true, status: "canceled" });
    await cut;
    expect(await room.engine.calls.cancel(key)).toEqual({ canceled: false, status: "canceled" });
  });

  test.each(["at once", "slowly", "and cannot be recalled"])(
    "[CRASH-5] claim, carried out %s: what was leased comes into a claimer's hands, and is never unknown",
    async (how) => {
      await using room = await openRoom();
      await dispatch(room.engine, "a", "unsafe");
      await dispatch(room.engine, "b", "safe");
      if (how === "slowly") await room.rows(SLOW);
      if (how === "and cannot be recalled") void room.proxy.cut({ statement: "calls.recall-claim", moment: "unsent" });
      const cut = room.proxy.cut({ statement: "calls.claim", moment });
      const held: LeasedCall[] = [];
      // No watchdog runs: what is not handed out here would never be.
      while (held.length < 2) held.push(...(await claim(room.engine, 5_000)));
      await cut;
      const attempts = await room.rows("select attempts, error_code from state.calls");
      expect(attempts).toEqual([
        { attempts: 1, error_code: null },
        { attempts: 1, error_code: null },
      ]);
      for (const call of held) expect(await settle(room.engine, call)).toMatchObject({ status: "success" });
    },
  );

  test.each(["at once", "slowly"])(
    "[CRASH-6] settle, carried out %s: settled once, with the result the reporter was told",
    async (pace) => {
      await using room = await openRoom();
      await dispatch(room.engine, "a");
      const [call] = await claim(room.engine);
      if (pace === "slowly") await room.rows(SLOW);
      const cut = room.proxy.cut({ statement: "calls.settle-direct", moment });
      const settled = await settle(room.engine, call as LeasedCall);
      await cut;
      expect(await settle(room.engine, call as LeasedCall)).toEqual({ ...settled, idempotent: true });
      expect(await room.rows(CALLS)).toMatchObject([{ status: "success", result_card_id: settled.toolResultCardId }]);
      expect(await room.rows("select card_id from cards.cards where type = 'tool.result'")).toEqual([
        { card_id: settled.toolResultCardId },
      ]);
    },
  );

  // A copy of the work is not remembered: its head is held and read first.
  test.each([
    ["from memory", (work: Work) => work, "turns.keep-work"],
    ["from memory, between its statements", (work: Work) => work, "calls.dispatch-all"],
    ["held and read", (work: Work) => ({ ...work }), "commit"],
  ])("[CRASH-4] a step, %s: its calls are there once, and the worker is told which", async (_, asGiven, statement) => {
    await using room = await openRoom();
    const work = asGiven(await takeTurn(room.engine));
    const cut = room.proxy.cut({ statement, moment });
    const step = await room.engine.turns.commitStep(work, {
      stepId: stepIdOf(work.agentTurnId, 1),
      entries: [{ call: { toolName: "safe", arguments: {} } }, { call: { toolName: "unsafe", arguments: {} } }],
    });
    await cut;
    const rows = await room.rows(`${CALLS} order by tool_call_id`);
    expect(rows.map(({ tool_call_id, call_card_id }) => ({ tool_call_id, call_card_id }))).toEqual(
      step.calls.map(({ toolCallId, callCardId }) => ({ tool_call_id: toolCallId, call_card_id: callCardId })),
    );
    expect(step.next).toBe("suspended");
    // The chain begins with the task and the card of its instruction; each call is one more link.
    expect(await room.rows("select status, waiting_tool_count, chain_seq from state.heads")).toEqual([
      { status: "suspended", waiting_tool_count: 2, chain_seq: 4 },
    ]);
  });

  test.each([
    ["from memory", (work: Work) => work, "turns.keep-last-work"],
    ["held and read", (work: Work) => ({ ...work }), "commit"],
  ])(
    "[CRASH-4] the end of a turn, %s: it has one deliverable, and the worker is told which",
    async (_, asGiven, statement) => {
      await using room = await openRoom();
      const work = await takeTurn(room.engine);
      const end = { status: "success", stepId: stepIdOf(work.agentTurnId, 1), deliverable: { text: "done" } } as const;
      const cut = room.proxy.cut({ statement, moment });
      const ended = await room.engine.turns.finish(asGiven(work), end);
      await cut;
      expect(await room.rows("select status, deliverable_card_id from state.turns")).toEqual([
        { status: "success", deliverable_card_id: ended.deliverableCardId },
      ]);
      expect(await room.rows("select card_id from cards.cards where type = 'task.deliverable'")).toHaveLength(1);
    },
  );

  test("[CRASH-4] a turn that is begun from memory is there once", async () => {
    await using room = await openRoom();
    const work = await takeTurn(room.engine);
    const stepId = stepIdOf(work.agentTurnId, 1);
    await room.engine.turns.finish(work, { status: "success", stepId, deliverable: { text: "done" } });
    const cut = room.proxy.cut({ statement: "turns.keep-agents", moment });
    const { projectId, agentId } = work;
    const turn = await room.engine.turns.spawn({
      projectId,
      agentId,
      sourceAgentId: "sys.test",
      context: { instruction: "again" },
    });
    await cut;
    expect(turn.idempotent).toBe(false);
    expect(await room.rows("select agent_turn_id from state.turns where status = 'active'")).toEqual([
      { agent_turn_id: turn.agentTurnId },
    ]);
  });
});
