import { describe, expect, test } from "vitest";
import { sampleWorkspace } from "./sample.ts";
import { checkSql, isSql } from "./sql.ts";

const rulesFor = (path: string, text: string): readonly string[] =>
  checkSql(sampleWorkspace({ [path]: text })).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

describe("[REPO-1-5] SQL text lives only in *.sql.ts", () => {
  const statement = "export const find =\n  `select card_id from cards.card where card_id = $1`;";

  test("a statement elsewhere is refused", () => {
    const path = "packages/engine/src/cards/find.ts";
    expect(rulesFor(path, statement)).toEqual([`${path}:2 sql-outside-sql-file`]);
  });

  test.each([
    "packages/engine/src/cards/find.sql.ts",
    "packages/engine/src/cards/find.test.ts",
    "packages/testkit/src/cards.contract.ts",
    "tests/scenarios/find.ts",
  ])("%s may hold it", (path) => {
    expect(rulesFor(path, statement)).toEqual([]);
  });

  test("any text handed to query() is a statement, whatever it looks like", () => {
    expect(rulesFor("packages/engine/src/x.ts", 'export const go = (pool) => pool.query("table cards");')).toHaveLength(
      1,
    );
  });

  test.each(["begin", "COMMIT", "rollback"])("the bare word %s names no table and may stand anywhere", (word) => {
    expect(rulesFor("packages/engine/src/x.ts", `export const go = (pool) => pool.query("${word}");`)).toEqual([]);
  });

  test("concatenation does not hide a statement", () => {
    const text = 'export const q = (n) => "select " + columns + " from " + n;';
    expect(rulesFor("packages/engine/src/x.ts", text)).toContain("packages/engine/src/x.ts:1 sql-outside-sql-file");
    expect(rulesFor("packages/engine/src/x.ts", 'export const q = "call " + id + " was settled";')).toEqual([]);
  });

  test("interpolation does not hide a statement", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a program
    const text = "export const q = (n) => `delete from ${n} where true`;";
    expect(rulesFor("packages/engine/src/x.ts", text)).toHaveLength(1);
  });
});

test.each([
  "select 1",
  "SELECT pg_advisory_lock($1)",
  "select $1::text",
  "\n  select a,\n  b\n  from t\n",
  "-- why\n-- so\nselect * from t",
  "insert into state.calls (id) values ($1)",
  "update state.calls set status = $2 where id = $1",
  "update state.calls c\n set status = $2",
  "delete from t where true",
  "with due as (select 1) update t set a = 1",
  "with due (a, b) as materialized (select 1) select * from due",
  "WITH RECURSIVE up AS (SELECT 1) SELECT * FROM up",
  "create table t (a int)",
  "create unique index i on t (a)",
  "create unlogged table t (a int)",
  "alter table t add column b int",
  "drop schema s cascade",
  "truncate table t",
  "ROLLBACK TO SAVEPOINT s",
  "LISTEN doorbell",
  "begin transaction isolation level serializable",
  "set local lock_timeout = '1s'",
  "/* why */ -- so\nselect * from t",
  "(select 1) union (select 2)",
  "explain analyze select * from t",
  "do $$ begin end $$",
  "call settle($1)",
  "values (1), (2)",
  "refresh materialized view v",
])("is SQL: %j", (text) => {
  expect(isSql(text)).toBe(true);
});

test.each([
  "",
  "Select a tool from the list",
  "select",
  "selected",
  "update the definition first",
  "delete the lease",
  "create a project before its tools",
  "with a lease as its only right",
  "commit",
  "begin",
  "from",
  "NOTIFY: a marker",
  "the call was settled; select another",
  "-- only a comment",
  "/* only a comment",
  "call the engine (see above)",
  "explain what to do with it",
  "do it",
  "values are JSON",
])("is not SQL: %j", (text) => {
  expect(isSql(text)).toBe(false);
});
