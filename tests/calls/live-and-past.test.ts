// A settlement moves a call from the live ones to the past ones. Who asks for it by its id or its key finds it on both
// sides, and who carries out a request a second time makes no second call.

import { randomUUID } from "node:crypto";
import { createEngine } from "@toolplane/engine";
import { migrate, readMigrations } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import {
  codeOf,
  createTestDatabase,
  dispatchAndClaim,
  MEDDLINGS,
  meddle,
  queryTestDatabase,
  resultFor,
  startTestEngine,
  type TestEngine,
  toolUpload,
  withClient,
  withTestClient,
} from "@toolplane/testkit";
import { expect, test, vi } from "vitest";

const rows = async (t: TestEngine, text: string): Promise<readonly unknown[]> =>
  withClient(t, async (client) => (await client.query(text)).rows);

const settleNext = async (t: TestEngine): Promise<void> => {
  const [call] = await t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 1 }, 5_000);
  if (call === undefined) throw new RangeError("nothing to claim");
  await t.engine.calls.settle(resultFor(call));
};

test.each([0, 8])(
  "[ENG-past-rerun] a request whose answer was lost and whose call settled meanwhile makes no second one, among %i others",
  async (others) => {
    let isLost = false;
    await using t = await startTestEngine({
      faults: {
        async at(point) {
          if (point !== "dispatch:after-commit" || isLost) return;
          isLost = true;
          await settleNext(t);
          throw new ToolplaneError("storage_error", "the answer was lost");
        },
      },
    });
    const { engine, projectId } = t;
    const ask = (item: number) => engine.calls.dispatch({ projectId, toolName: "unsafe", arguments: { item } });
    const made = await Promise.all(Array.from({ length: others + 1 }, (_, item) => ask(item)));
    expect(isLost).toBe(true);
    expect(made.filter(({ status }) => status === "success")).toHaveLength(1);
    expect(new Set(made.map(({ toolCallId }) => toolCallId)).size).toBe(others + 1);
    expect(await rows(t, "select from state.past_calls")).toHaveLength(1);
    expect(await rows(t, "select from state.live_calls")).toHaveLength(others);
    expect(await rows(t, "select from cards.cards where type = 'tool.call'")).toHaveLength(others + 1);
  },
);

test("[ENG-past-rerun] a caller that asks again by the id it chose finds its call, though that has settled", async () => {
  await using t = await startTestEngine();
  const request = { projectId: t.projectId, toolName: "unsafe", arguments: { item: 1 }, toolCallId: randomUUID() };
  const first = await t.engine.calls.dispatch(request);
  await settleNext(t);
  expect(await t.engine.calls.dispatch(request)).toEqual({ ...first, status: "success" });
  expect(await rows(t, "select from state.calls")).toHaveLength(1);
});

test("[ENG-past-key] a key holds for a settled call, and is free when that is forgotten", async () => {
  await using t = await startTestEngine();
  const { engine, projectId } = t;
  const ask = (item: number) =>
    engine.calls.dispatch({ projectId, toolName: "safe", arguments: { item }, idempotencyKey: "once" });
  const first = await ask(1);
  await settleNext(t);
  expect(await ask(1)).toEqual({ ...first, status: "success", idempotent: true });
  expect(await codeOf(ask(2))).toBe("idempotency_conflict");
  await meddle(t, "ageSettledCalls");
  expect(await engine.retain({ seconds: 30 * 86_400 })).toMatchObject({ calls: 1 });
  expect(await rows(t, "select from state.call_keys")).toEqual([]);
  expect(await ask(2)).toMatchObject({ idempotent: false });
});

test("[INV-I12] a key that comes with the id of another call is not taken, and does not answer with that call", async () => {
  await using t = await startTestEngine();
  const { engine, projectId } = t;
  const toolCallId = randomUUID();
  const ask = (item: number, idempotencyKey?: string, id?: string) =>
    engine.calls.dispatch({ projectId, toolName: "safe", arguments: { item }, toolCallId: id, idempotencyKey });
  await ask(1, undefined, toolCallId);
  expect(await codeOf(ask(2, "mine", toolCallId))).toBe("conflict");
  expect(await rows(t, "select from state.call_keys")).toEqual([]);
  expect(await ask(3, "mine")).toMatchObject({ idempotent: false });
});

test("[INV-I1] a settled call is among the past ones only, and a second settlement finds no row to move", async () => {
  await using t = await startTestEngine();
  const call = await dispatchAndClaim(t, "unsafe");
  const other = await t.another();
  const outcomes = await Promise.allSettled([
    t.engine.calls.settle(resultFor(call)),
    other.calls.settle(resultFor(call, { result: { other: true } })),
    t.engine.calls.cancel({ projectId: t.projectId, toolCallId: call.facts.toolCallId }),
  ]);
  expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
  expect(await rows(t, "select from state.live_calls")).toEqual([]);
  expect(await rows(t, "select from state.past_calls")).toHaveLength(1);
  expect(await rows(t, "select from cards.cards where type = 'tool.result'")).toHaveLength(1);
});

test("pages of a list are the newest of both sides, whichever have settled", async () => {
  await using t = await startTestEngine();
  const { engine, projectId } = t;
  await Promise.all(
    Array.from({ length: 12 }, (_, item) =>
      engine.calls.dispatch({ projectId, toolName: "safe", arguments: { item }, toolCallId: `call_${item + 10}` }),
    ),
  );
  const all = Array.from({ length: 12 }, (_, item) => `call_${21 - item}`);
  for (const settled of [[], [12, 13, 17], [10, 21, 20, 11], [14, 15, 16, 18, 19]]) {
    for (const id of settled) await engine.calls.cancel({ projectId, toolCallId: `call_${id}` });
    for (const limit of [1, 2, 5, 12, 50]) {
      const listed: string[] = [];
      for (;;) {
        const page = await engine.calls.list(projectId, { limit, before: listed.at(-1) });
        listed.push(...page.map(({ toolCallId }) => toolCallId));
        if (page.length < limit) break;
      }
      expect(listed).toEqual(all);
    }
  }
});

/** A database as the version before left it, with a project. */
const createOldDatabase = async () => {
  const database = await createTestDatabase();
  const before = (await readMigrations()).filter(({ number }) => number < 9);
  await queryTestDatabase(
    database.url,
    "create table public.toolplane_migrations (number integer primary key, name text not null, hash text not null, applied_at timestamptz not null default now())",
  );
  for (const { number, name, hash, sql } of before) {
    await queryTestDatabase(database.url, sql);
    await meddle(database.url, "recordMigration", [number, name, hash]);
  }
  await meddle(database.url, "addOldProject");
  return database;
};

test("[ENG-past-migrated] a database from before is taken over with all its calls and keys", async () => {
  await using database = await createOldDatabase();
  await meddle(database.url, "addOldCard");
  await meddle(database.url, "addCallsOfOldSchema");
  await migrate({ connectionString: database.url });
  const engine = await createEngine({ connection: { connectionString: database.url }, watchdog: false });
  try {
    await engine.tools.upsertTool("p", toolUpload({ name: "safe" }));
    const listed = await engine.calls.list("p");
    expect(listed.map(({ toolCallId, status, settledAt }) => [toolCallId, status, settledAt !== null])).toEqual([
      ["success", "success", true],
      ["running", "running", false],
      ["queued", "queued", false],
      ["failed", "failed", true],
      ["awaiting_approval", "awaiting_approval", false],
    ]);
    const ask = { projectId: "p", toolName: "safe", arguments: {} };
    for (const { toolCallId, status } of listed) {
      expect(await codeOf(engine.calls.dispatch({ ...ask, idempotencyKey: `key_${status}` }))).toBe(
        "idempotency_conflict",
      );
      expect(await codeOf(engine.calls.dispatch({ ...ask, toolCallId }))).toBe("conflict");
    }
    expect(await engine.calls.cancel({ projectId: "p", toolCallId: "running" })).toMatchObject({ canceled: true });
    const open = (await engine.depths()).calls.filter(({ status }) => status !== "awaiting_approval");
    expect(open).toMatchObject([{ status: "queued", calls: 1 }]);
  } finally {
    await engine.close();
  }
});

const MIGRATION_WAITS = `
select count(*)::int as waits from pg_stat_activity
 where datname = current_database() and application_name = 'toolplane migrate' and wait_event_type = 'Lock'`;

test("[ENG-past-migrated] what an older version writes while its database is taken over is not lost", async () => {
  await using database = await createOldDatabase();
  await withTestClient(database.url, async (older) => {
    await older.query("begin");
    await older.query(MEDDLINGS.addCallsOfOldSchema);
    const migrated = migrate({ connectionString: database.url });
    migrated.catch(() => {});
    await vi.waitFor(async () =>
      expect(await queryTestDatabase(database.url, MIGRATION_WAITS)).toEqual([{ waits: 1 }]),
    );
    await older.query("commit");
    await migrated;
  });
  expect(
    await queryTestDatabase(
      database.url,
      "select (select count(*)::int from state.live_calls) as live, (select count(*)::int from state.past_calls) as past, (select count(*)::int from state.call_keys) as keys",
    ),
  ).toEqual([{ live: 3, past: 2, keys: 5 }]);
});
