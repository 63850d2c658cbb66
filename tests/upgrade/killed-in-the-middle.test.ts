// A database of an earlier version, killed in the middle of work, is opened by this one and everything in it is finished.
//
// ae39b87.ndjson holds what the engine of that commit (migrations 1 to 9) left when it was killed with SIGKILL while
//   - two calls were leased by a service (`leased-safe`, `leased-unsafe`), one stood in the queue (`queued`, with a key);
//   - one waited for approval (`wants-approval`), one had been approved and not claimed (`was-approved`);
//   - agent `results` was suspended with two results in its inbox and their wakeups on the bus, `waits` with a call in the queue
//     and a second turn behind it, `asks` with a call that waits for approval, `approved` with one that was approved;
//   - agent `thinks` was in the hands of a worker, the turn of `begins` in no worker's;
// and what was over before: a call, a denied call, the turn of `done`, the decision about a call that retention had forgotten.
// The same runs on PostgreSQL 15 with TOOLPLANE_TEST_POSTGRES=15.

import { createEngine, type Engine, type Work } from "@toolplane/engine";
import {
  createTestDatabase,
  eventually,
  loadEarlierData,
  queryTestDatabase,
  resultFor,
  type TestDatabase,
  verifyHistories,
} from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const PROJECT = "demo";
const AGENTS = ["results", "waits", "asks", "approved", "thinks", "begins"] as const;
/** Longer than any lease or claim of that version, shorter than any time to wait in a queue. */
const AGO_MS = 60_000;

let database: TestDatabase;
let engine: Engine;

const rows = <Row extends object>(sql: string): Promise<Row[]> =>
  queryTestDatabase(database.url, sql) as Promise<object[]> as Promise<Row[]>;

const answerAll = async (): Promise<void> => {
  for (const leased of await engine.calls.claim({ projectId: PROJECT, target: "test", holder: "new", max: 50 }))
    await engine.calls.settle(resultFor(leased));
};

const approveAll = async (): Promise<void> => {
  for (const { toolCallId } of (await engine.approvals.list(PROJECT)).items)
    await engine.approvals.approve({ projectId: PROJECT, toolCallId, by: "ben" });
};

const finish = (work: Work) => engine.turns.finish(work, { status: "success", deliverable: `done by ${work.agentId}` });

const thinkForAll = async (): Promise<void> => {
  for (const agentId of AGENTS) {
    const { work } = await engine.turns.advance({ projectId: PROJECT, agentId, workerId: "new", takeWork: true });
    if (work !== undefined) await finish(work);
  }
};

const openCount = async (): Promise<number> => {
  const [row] = await rows<{ open: number }>(
    `select (select count(*) from state.live_calls)::int + (select count(*) from state.turns where ended_at is null)::int as open`,
  );
  return row?.open ?? 0;
};

beforeAll(async () => {
  database = await createTestDatabase();
  await loadEarlierData(database.url, new URL("ae39b87.ndjson", import.meta.url), AGO_MS);
  engine = await createEngine({ connection: { connectionString: database.url } });
  await eventually(async () => {
    await approveAll();
    await answerAll();
    await thinkForAll();
    return (await openCount()) === 0;
  });
});

afterAll(async () => {
  await engine.close();
  await database.drop();
});

test("[ENG-upgrade-1] every call of an earlier version is finished, once, as its tool allows", async () => {
  const ends = await rows<{ tool_call_id: string; ends: string }>(
    `select tool_call_id, status || coalesce(' ' || error_code, '') as ends from state.past_calls
      where tool_call_id in ('leased-safe', 'leased-unsafe', 'queued', 'wants-approval', 'was-approved') order by 1`,
  );
  expect(Object.fromEntries(ends.map((row) => [row.tool_call_id, row.ends]))).toEqual({
    "leased-safe": "success",
    "leased-unsafe": "failed outcome_unknown",
    queued: "success",
    "wants-approval": "success",
    "was-approved": "success",
  });
  const again = { projectId: PROJECT, toolName: "safe", arguments: {}, idempotencyKey: "once" };
  expect(await engine.calls.dispatch(again)).toMatchObject({ toolCallId: "queued", idempotent: true });
});

test("[ENG-upgrade-1] every turn of an earlier version ends with its results read, and leaves no row to look at", async () => {
  const turns = await rows<{ agent_id: string; status: string }>("select agent_id, status from state.turns order by 1");
  expect(turns.map(({ agent_id, status }) => `${agent_id} ${status}`)).toEqual(
    ["approved", "asks", "begins", "done", "results", "thinks", "waits", "waits"].map((agent) => `${agent} success`),
  );
  expect(await rows("select from state.past_calls where not headless and result_chain_seq is null")).toEqual([]);
  expect(await rows("select from state.inbox where archived_at is null")).toEqual([]);
  expect(await rows("select from state.heads where status <> 'idle'")).toEqual([]);
  const told = await rows<{ n: number }>(
    "select count(distinct message_id)::int as n from bus.events where message_id like '%:task'",
  );
  expect(told).toEqual([{ n: 8 }]);
  await eventually(async () => (await rows("select from bus.messages where category = 'cmd'")).length === 0);
});

test("[ENG-history-8] turns and calls of an earlier version keep its chain, also when they end now; new ones have the present one", async () => {
  expect(await verifyHistories(database.url)).toEqual([]);
  const verdictOf = (agentTurnId: string) => engine.history.verify({ projectId: PROJECT, agentTurnId });
  for (const { agent_turn_id } of await rows<{ agent_turn_id: string }>("select agent_turn_id from state.turns"))
    expect(await verdictOf(agent_turn_id)).toMatchObject({ version: 1, ended: true, broken: undefined });
  const [before] = await rows<{ agent_turn_id: string }>(
    "select agent_turn_id from state.past_calls where headless and status = 'success' order by settled_at limit 1",
  );
  expect(await verdictOf(before?.agent_turn_id ?? "")).toMatchObject({ version: 1, links: 1 });
  expect(await verdictOf("turn_queued")).toMatchObject({ version: 1, links: 2 });
  // That version did not note which decision led to a call; this one does.
  expect(await verdictOf("turn_was-approved")).toMatchObject({ version: 1, links: 2 });
  expect(await verdictOf("turn_wants-approval")).toMatchObject({ version: 1, links: 3 });
  await engine.calls.dispatch({ projectId: PROJECT, toolName: "safe", arguments: {}, toolCallId: "new" });
  await answerAll();
  expect(await verdictOf("turn_new")).toMatchObject({ version: 2, links: 2, broken: undefined });
});

test("[ENG-upgrade-2] decisions that an earlier version had left without their calls are gone, the others are not", async () => {
  const cards = await rows<{ card_id: string }>("select card_id from cards.cards where type = 'call.approval'");
  const calls = await rows<{ card_id: string }>(
    "select 'approval_' || tool_call_id as card_id from state.past_calls where tool_name = 'risky'",
  );
  expect(cards.map(({ card_id }) => card_id).sort()).toEqual(calls.map(({ card_id }) => card_id).sort());
  expect(cards).toHaveLength(5);
});
