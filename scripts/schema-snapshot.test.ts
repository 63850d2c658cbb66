import { readFileSync } from "node:fs";
import { migrate } from "@toolplane/engine/internal";
import { createTestDatabase, withTestClient } from "@toolplane/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { firstDifference } from "./schema-snapshot/compare-lines.ts";
import { dumpSchema } from "./schema-snapshot/dump-schema.ts";

const SNAPSHOT = new URL("../packages/engine/schema.snapshot.sql", import.meta.url);

const TEMPLATE = {
  name: "snapshot",
  migrate: async (url: string): Promise<void> => {
    await migrate({ connectionString: url });
  },
};

const migrated = async (change?: string): Promise<string> => {
  await using database = await createTestDatabase(TEMPLATE);
  return await withTestClient(database.url, async (client) => {
    if (change !== undefined) await client.query(change);
    return dumpSchema(client);
  });
};

let plain: string;
beforeAll(async () => {
  plain = await migrated();
});

test("[ARCH-5-E8] the snapshot is what the migrations make; write it again with scripts/schema-snapshot.ts", () => {
  expect(firstDifference(readFileSync(SNAPSHOT, "utf8"), plain)).toBeUndefined();
});

test.each([
  ["a column", "alter table state.past_calls add column x text"],
  ["a default", "alter table state.live_calls alter column attempts set default 1"],
  ["a type", "alter table state.inbox alter column retry_count type bigint"],
  ["a NOT NULL", "alter table state.past_calls alter column applied_at set not null"],
  ["a check", "alter table resource.projects drop constraint projects_status_check"],
  ["an index", "drop index state.live_calls_due"],
  ["a unique constraint", "alter table state.edges drop constraint edges_of_correlation"],
  ["a trigger", "drop trigger cards_never_change on cards.cards"],
  ["a trigger that is switched off", "alter table cards.cards disable trigger cards_never_change"],
  [
    "the body of a function",
    "create or replace function cards.refuse_change() returns trigger language plpgsql as 'begin return new; end'",
  ],
  ["a right on a table", "grant delete on cards.cards to toolplane_reader"],
  ["a right on a column", "grant update (body) on cards.cards to toolplane_engine"],
  ["a right on a schema", "grant create on schema cards to toolplane_engine"],
  ["how a table is stored", "alter table state.past_calls set (fillfactor = 50)"],
  ["a table", "create table state.more (x int)"],
])("[ARCH-5-E8] a change of %s shows", async (_what, change) => {
  expect(firstDifference(plain, await migrated(change))).toBeDefined();
});

describe("firstDifference", () => {
  test.each([
    ["a\nb\nc", "a\nb\nc", undefined],
    ["a\nb\nc", "a\nx\nc", "line 2:\n  a\n- b\n+ x"],
    ["a", "a\nb", "line 2:\n  a\n- (end)\n+ b"],
    ["a\nb", "a", "line 2:\n  a\n- b\n+ (end)"],
  ])("%j and %j", (expected, found, difference) => {
    expect(firstDifference(expected, found)).toBe(difference);
  });
});
