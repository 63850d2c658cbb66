// What a turn asks of the database, counted by name: a statement more is a decision, not an accident.

import type { Database } from "@toolplane/engine/internal";
import { eventually } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { openAgentPlane } from "./support/agent-plane.ts";

/** What the worker's and the turn's own statements are called; calls are claimed and settled beside them. */
const isOfTurns = (name: string): boolean => name.startsWith("turns.");

test("[ARCH-5-Q1] [ARCH-5-Q2] a lone turn with one call: the statements of turns, no message for a wakeup, at most 14 in all", async () => {
  const names: string[] = [];
  await using plane = await openAgentPlane();
  const { engine } = plane;
  // Every statement of the engine goes through its database, alone or in a transaction.
  const db = engine.db as { -readonly [Key in keyof Database]: Database[Key] };
  const { query, transaction, together } = engine.db;
  let claimed = 0;
  db.query = async <Row extends object>(...[statement, values]: Parameters<typeof query>) => {
    names.push(statement.name);
    const rows = await query<Row>(statement, values);
    if (statement.name.startsWith("calls.claim")) claimed += rows.length;
    return rows;
  };
  db.transaction = (work) =>
    transaction((tx) =>
      work({
        ...tx,
        query: (statement, values) => {
          names.push(statement.name);
          return tx.query(statement, values);
        },
        last: (statement, values) => {
          names.push(statement.name);
          return tx.last(statement, values);
        },
      }),
    );
  db.together = (parts) => {
    names.push(...parts.map(({ statement }) => statement.name));
    return together(parts);
  };
  const countTold = async () =>
    (
      await query<{ rows: number; events: number }>({
        name: "test.told",
        text: "select (select count(*) from bus.messages)::int as rows, (select count(*) from bus.events)::int as events",
      })
    )[0] ?? { rows: 0, events: 0 };
  await plane.agents("helper");
  const worker = await plane.startWorker(
    ({ stepNumber }) =>
      stepNumber > 1 ? "done" : { toolCalls: [{ id: "c", name: "echo", arguments: { text: "hello" } }] },
    { lookMs: 600_000 },
  );
  // The first one fills what is remembered: definitions, profiles, the way to the tool.
  await plane.ended(await plane.spawn("helper", "first"));
  await eventually(() => engine.doorbell.stats().alone);
  const statements = engine.db.stats().statements;
  const { sent } = engine.doorbell.stats();
  const told = await countTold();
  names.length = 0;
  claimed = 0;
  await plane.spawn("helper", "second");
  await eventually(() => worker.stats().turns.finished === 2);
  const cost = [...names];
  expect(engine.db.stats().statements - statements).toBeLessThanOrEqual(14);
  expect(cost.filter(isOfTurns)).toEqual([
    "turns.keep-agents",
    "turns.write-ncbshp",
    "turns.keep-work",
    "turns.write-cbshtip",
    "turns.hold-agents",
    "turns.write-bshiarp",
    "turns.read-boxes",
    "turns.keep-last-work",
    "turns.write-cbshtip",
  ]);
  // What each of the four transactions tells is one row, and so is what the dispatch and the settlement tell of the call. The service looks
  // at its queue once a second: a call that comes in that moment is claimed, and the claim tells a row of its own. A look that finds
  // nothing tells nothing.
  const now = await countTold();
  expect({ rows: now.rows - told.rows, events: now.events - told.events }).toEqual({ rows: 6 + claimed, events: 13 });
  // Beside them are the dispatch, the claim with the look after it, and the settlement.
  expect(engine.doorbell.stats().sent - sent).toBe(0);
  const commands = await engine.db.query<{ commands: number }>({
    name: "test.commands",
    text: "select count(*)::int as commands from bus.messages where category = 'cmd'",
  });
  expect(commands).toEqual([{ commands: 0 }]);
});
