import { createTestDatabase, ENGINE_TEMPLATE, type TestDatabase, withTestClient } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(ENGINE_TEMPLATE);
});
afterAll(() => database.drop());

/** The words a column's check allows, as the server understood them. */
const allowed = (table: string, column: string): Promise<readonly string[]> =>
  withTestClient(database.url, async (client) => {
    const { rows } = await client.query<{ rule: string }>(
      `select pg_get_constraintdef(c.oid) as rule
         from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and c.conkey = array[a.attnum]
        where c.conrelid = $1::regclass and a.attname = $2 and c.contype = 'c'`,
      [table, column],
    );
    return rows.flatMap(({ rule }) => [...rule.matchAll(/'([^']*)'::text/g)].map(([, word]) => word ?? ""));
  });

test.each([
  ["resource.projects", "status", ["active", "inactive", "archived"]],
  ["resource.agents", "status", ["active", "inactive"]],
  ["resource.tools", "status", ["active", "paused", "deleted"]],
  ["state.heads", "status", ["idle", "dispatched", "running", "suspended"]],
  ["state.live_calls", "status", ["queued", "running", "awaiting_approval"]],
  ["state.past_calls", "status", ["success", "failed", "canceled", "timeout", "partial"]],
  ["state.live_calls", "after_execution", ["suspend", "terminate"]],
  ["state.past_calls", "after_execution", ["suspend", "terminate"]],
  ["state.inbox", "message_type", ["turn", "ui_action", "tool_result", "timeout", "stop", "continuation"]],
  ["state.inbox", "status", ["queued", "pending", "processing", "deferred", "consumed", "error", "skipped"]],
  ["state.edges", "primitive", ["enqueue", "join"]],
  ["state.edges", "edge_phase", ["request", "response"]],
])("[UTP-14-E1] %s.%s takes exactly its words", async (table, column, words) => {
  expect(await allowed(table, column)).toEqual(words);
});

test("[UTP-14-E2] ids are compared as bytes, whatever the language of the database", async () => {
  const plain = await withTestClient(database.url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select a.attrelid::regclass || '.' || a.attname as name
         from pg_attribute a
         join pg_class c on c.oid = a.attrelid
         join pg_namespace n on n.oid = c.relnamespace
         join pg_collation co on co.oid = a.attcollation
        where n.nspname in ('resource', 'cards', 'state', 'bus') and c.relkind = 'r' and a.attname like '%\\_id'
          and co.collname <> 'C' and a.attname <> 'provider_call_id'`,
    );
    return rows.map(({ name }) => name);
  });
  // An owner is a person, not a key.
  expect(plain).toEqual(["resource.projects.owner_id"]);
});

test("[UTP-W33-E1] every key of a project's rows begins with the project", async () => {
  const global = await withTestClient(database.url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select c.conrelid::regclass::text as name
         from pg_constraint c join pg_namespace n on n.oid = c.connamespace
         join pg_attribute first on first.attrelid = c.conrelid and first.attnum = c.conkey[1]
        where n.nspname in ('resource', 'cards', 'state') and c.contype in ('p', 'u') and first.attname <> 'project_id'`,
    );
    return rows.map(({ name }) => name);
  });
  // Tokens and logins are found by their own id before a project is known; the audit is one list of the whole plane.
  expect(global.toSorted()).toEqual([
    "resource.audit",
    "resource.browser_sessions",
    "resource.login_codes",
    "resource.tokens",
  ]);
});
