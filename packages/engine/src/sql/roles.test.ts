import { createTestDatabase, ENGINE_TEMPLATE, type TestDatabase, withTestClient } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(ENGINE_TEMPLATE);
  await as("owner", "insert into resource.projects (project_id, title, owner_id) values ('p', 't', 'o')");
  await as(
    "owner",
    "insert into cards.cards (project_id, card_id, type, author_id, hash, body) values ('p', 'c', 't', 'a', 'h', '{}')",
  );
});
afterAll(() => database.drop());

type Who = "owner" | "toolplane_engine" | "toolplane_reader";

/** The SQLSTATE of what happened, or "done". Nothing is kept of a refused statement. */
const as = (who: Who, text: string): Promise<string> =>
  withTestClient(database.url, async (client) => {
    if (who !== "owner") await client.query(`set role ${who}`);
    try {
      await client.query(text);
      return "done";
    } catch (error) {
      return String((error as { code?: unknown }).code);
    }
  });

const DENIED = "42501";
const IMMUTABLE = "TP007";

describe("cards", () => {
  test.each([
    ["body", "update cards.cards set body = '{\"x\":1}'"],
    ["author", "update cards.cards set author_id = 'b'"],
    ["type", "update cards.cards set type = 'b'"],
    ["candidate flag", "update cards.cards set candidate = true"],
    ["expiry", "update cards.cards set expires_at = now()"],
  ])("[INV-I7-E1] the engine has no right to update a card's %s", async (_what, text) => {
    expect(await as("toolplane_engine", text)).toBe(DENIED);
  });

  test("[INV-I7-E1] the one column it may try to update is refused by the trigger", async () => {
    expect(await as("toolplane_engine", "update cards.cards set hash = 'other'")).toBe(IMMUTABLE);
    expect(await as("toolplane_engine", "update cards.cards set hash = hash")).toBe(IMMUTABLE);
  });

  test("[INV-I7-E1] the superuser's update of a card is refused by the trigger", async () => {
    expect(await as("owner", "update cards.cards set body = '{\"x\":1}'")).toBe(IMMUTABLE);
    expect(await as("owner", "update cards.cards set body = body, hash = 'h2' where card_id = 'c'")).toBe(IMMUTABLE);
  });
});

describe("the engine's role", () => {
  test.each([
    ["drop table cards.cards"],
    ["drop table state.live_calls"],
    ["drop schema cards cascade"],
    ["truncate cards.cards"],
    ["truncate state.past_calls"],
    ["alter table cards.cards disable trigger cards_never_change"],
    ["drop trigger cards_never_change on cards.cards"],
    ["alter table cards.cards add column x text"],
    ["create table cards.more (x text)"],
    ["create or replace function cards.refuse_change() returns trigger language plpgsql as 'begin return new; end'"],
    ["set session_replication_role = replica"],
    ["grant all on cards.cards to toolplane_reader"],
    ["update public.toolplane_migrations set hash = ''"],
    ["insert into public.toolplane_migrations (number, name, hash) values (9999, 'x', 'x')"],
    ["delete from public.toolplane_migrations"],
  ])("[SEC-4-E6] may not: %s", async (text) => {
    const outcome = await as("toolplane_engine", text);
    // A grant of what one does not own only warns.
    if (text.startsWith("grant")) expect(await as("toolplane_reader", "delete from cards.cards")).toBe(DENIED);
    else expect(outcome).toBe(DENIED);
  });

  test.each([
    [
      "insert into cards.cards (project_id, card_id, type, author_id, hash, body) values ('p', 'c2', 't', 'a', 'h', '{}')",
    ],
    [
      "insert into cards.cards (project_id, card_id, type, author_id, hash, body) values ('p', 'c', 't', 'a', 'h', '{}') on conflict (project_id, card_id) do update set hash = excluded.hash where cards.hash <> excluded.hash",
    ],
    ["delete from cards.cards where card_id = 'none'"],
    ["update resource.projects set title = 'x' where project_id = 'none'"],
    [
      "insert into bus.messages (category, project_id, subject, component, target, headers, payload) values ('cmd', 'p', 's', 'tool', 't', '{}', '{}')",
    ],
  ])("may: %s", async (text) => {
    expect(await as("toolplane_engine", text)).toBe("done");
  });
});

describe("the reader's role", () => {
  const TABLES = [
    "resource.projects",
    "resource.tools",
    "resource.agents",
    "cards.cards",
    "cards.boxes",
    "state.live_calls",
    "state.past_calls",
    "state.call_keys",
    "state.inbox",
    "state.heads",
    "bus.messages",
  ];

  test.each(TABLES)("reads %s and cannot write it", async (table) => {
    expect(await as("toolplane_reader", `select 1 from ${table} limit 1`)).toBe("done");
    expect(await as("toolplane_reader", `delete from ${table}`)).toBe(DENIED);
    expect(await as("toolplane_reader", `insert into ${table} default values`)).toBe(DENIED);
    expect(await as("toolplane_reader", `update ${table} set project_id = 'x'`)).toBe(DENIED);
  });

  test.each(["create table state.mine (x int)", "drop table state.live_calls", "truncate state.past_calls"])(
    "may not: %s",
    async (text) => {
      expect(await as("toolplane_reader", text)).toBe(DENIED);
    },
  );

  test("reads the edges, stored ones and those that calls are", async () => {
    expect(await as("toolplane_reader", "select 1 from state.execution_edges limit 1")).toBe("done");
  });
});

test("every table and view of the four rooms is open to the reader, except what is for operators only", async () => {
  const closed = await withTestClient(database.url, async (client) => {
    const { rows } = await client.query<{ name: string }>(`
      select c.oid::regclass::text as name
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('resource', 'cards', 'state', 'bus') and c.relkind in ('r', 'v')
         and not (has_table_privilege('toolplane_reader', c.oid, 'select') or has_any_column_privilege('toolplane_reader', c.oid, 'select'))`);
    return rows.map(({ name }) => name);
  });
  expect(closed.toSorted()).toEqual(["resource.login_codes", "state.call_diagnostics"]);
});
