import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { createTestDatabase, ENGINE_TEMPLATE, type TestDatabase } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adHoc } from "../../test/registry-world.ts";
import { createDatabase, type Database } from "./database.ts";

let server: TestDatabase;
let db: Database;

beforeAll(async () => {
  server = await createTestDatabase(ENGINE_TEMPLATE);
  db = createDatabase({ connection: { connectionString: server.url }, role: "toolplane_engine", maxConnections: 3 });
});
afterAll(async () => {
  await db.close();
  await server.drop();
});

const insertProject = (id: string) =>
  [adHoc("insert into resource.projects (project_id, title, owner_id) values ($1, 't', 'o')"), [id]] as const;
const hasProject = async (id: string): Promise<boolean> =>
  (await db.query(adHoc("select from resource.projects where project_id = $1"), [id])).length === 1;

describe("statements", () => {
  test("rows come back as objects, and statements are counted", async () => {
    const before = db.stats().statements;
    expect(await db.query(adHoc("select $1::int + 1 as n, $2::text[] as words"), [1, ["a", "b"]])).toEqual([
      { n: 2, words: ["a", "b"] },
    ]);
    expect(db.stats().statements - before).toBe(1);
  });

  test("every connection runs as the role it was given, with plans that stay right when tables grow", async () => {
    const [row] = await db.query(
      adHoc(
        "select current_user as who, current_setting('plan_cache_mode') as plans, current_setting('enable_seqscan') as scans, current_setting('statement_timeout') as patience",
      ),
    );
    expect(row).toEqual({ who: "toolplane_engine", plans: "force_generic_plan", scans: "off", patience: "30s" });
  });

  test("[INV-I8-E1] an error of the database says which statement, never its text or its values", async () => {
    const failing = { name: "test-secretive", text: "select ($1::text || 'x')::int as leak" };
    const error = await db.query(failing, ["sk-live-1"]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ToolplaneError);
    expect((error as ToolplaneError).toWire()).toEqual({
      code: "internal_error",
      message: "the database refused statement test-secretive (22P02)",
      detail: { statement: "test-secretive", sqlstate: "22P02" },
      retryable: false,
    });
  });
});

test.each([
  ["select 1 / $1::int as n", "22012"],
  [
    "insert into resource.projects (project_id, title, owner_id) values ($1::int::text, '', 'o') returning 1 as n",
    "23514",
  ],
])("a statement that fails keeps its connection, and the plans made there: %s", async (text, sqlstate) => {
  const one = createDatabase({ connection: { connectionString: server.url }, maxConnections: 1 });
  const pid = async () => (await one.query(adHoc("select pg_backend_pid() as pid")))[0];
  const before = await pid();
  await expect(one.query(adHoc(text), [0])).rejects.toMatchObject({ detail: { sqlstate } });
  expect(await pid()).toEqual(before);
  await one.close();
});

test("a plan that no longer fits its table is made anew, on another connection", async () => {
  const one = createDatabase({ connection: { connectionString: server.url }, maxConnections: 1 });
  await one.query(adHoc("create table public.fitting (a int)"));
  const all = adHoc("select * from public.fitting");
  await one.query(all);
  await one.query(adHoc("alter table public.fitting add column b int"));
  await expect(one.query(all)).rejects.toMatchObject({ detail: { sqlstate: "0A000" } });
  expect(await one.query(all)).toEqual([]);
  await one.close();
});

describe("sessions", () => {
  test("[ENG-session] what a database is set to otherwise does not reach the engine: isolation, dates, time zone", async () => {
    const own = await createTestDatabase(ENGINE_TEMPLATE);
    const owner = createDatabase({ connection: { connectionString: own.url }, maxConnections: 1 });
    const odd = [
      "default_transaction_isolation = 'serializable'",
      "datestyle = 'SQL, DMY'",
      "timezone = 'Asia/Kathmandu'",
    ];
    for (const setting of odd) await owner.query(adHoc(`alter database ${own.name} set ${setting}`));
    await owner.close();
    const late = createDatabase({ connection: { connectionString: own.url }, maxConnections: 1 });
    const [row] = await late.query(
      adHoc("select current_setting('transaction_isolation') as level, to_timestamp(1700000000) as moment"),
    );
    expect(row).toEqual({ level: "read committed", moment: new Date(1_700_000_000_000) });
    await late.close();
    await own.drop();
  });
});

describe("statements that go together", () => {
  const add = (id: string) => {
    const [statement, values] = insertProject(id);
    return { statement, values };
  };
  const divide = (by: number) => ({
    statement: { name: "test.divide", text: "select 10 / $1::int as n" },
    values: [by],
  });

  test("are one transaction and are counted; the rows of each come back", async () => {
    const before = db.stats().statements;
    const xact = { statement: adHoc("select pg_current_xact_id()::text as id, $1::text as word"), values: ["a"] };
    const [first, none, last] = await db.together([xact, add("together"), xact]);
    expect(first).toEqual([{ id: expect.any(String), word: "a" }]);
    expect(none).toEqual([]);
    expect(last).toEqual(first);
    expect(db.stats().statements - before).toBe(3);
    expect(await hasProject("together")).toBe(true);
  });

  test("leave nothing when one fails, and keep their connection and what was prepared there", async () => {
    const one = createDatabase({ connection: { connectionString: server.url }, maxConnections: 1 });
    const pid = async () => (await one.query(adHoc("select pg_backend_pid() as pid")))[0];
    const before = await pid();
    const failing = one.together([add("before_it"), divide(0), add("after_it")]);
    await expect(failing).rejects.toMatchObject({ code: "internal_error", detail: { sqlstate: "22012" } });
    expect(await hasProject("before_it")).toBe(false);
    expect(await hasProject("after_it")).toBe(false);
    expect(await one.together([divide(5), add("later")])).toEqual([[{ n: 2 }], []]);
    expect(await one.query(divide(2).statement, [2])).toEqual([{ n: 5 }]);
    expect(await pid()).toEqual(before);
    await one.close();
  });

  test("fail when their connection breaks, and the next ones find another", async () => {
    const one = createDatabase({ connection: { connectionString: server.url }, maxConnections: 1 });
    const suicide = { statement: adHoc("select pg_terminate_backend(pg_backend_pid())"), values: [] };
    await expect(one.together([add("broken"), suicide])).rejects.toMatchObject({ code: "storage_error" });
    expect(await hasProject("broken")).toBe(false);
    expect(await one.together([divide(1)])).toEqual([[{ n: 10 }]]);
    await one.close();
  });
});

describe("transactions", () => {
  test("commit when the work is done", async () => {
    const value = await db.transaction(async (tx) => {
      await tx.query(...insertProject("kept"));
      return "value";
    });
    expect(value).toBe("value");
    expect(await hasProject("kept")).toBe(true);
  });

  test("[UTP-W41-E1] roll back when the work refuses, and let its error through as it is", async () => {
    const refusal = new ToolplaneError("conflict", "no");
    await expect(
      db.transaction(async (tx) => {
        await tx.query(...insertProject("refused"));
        throw refusal;
      }),
    ).rejects.toBe(refusal);
    expect(await hasProject("refused")).toBe(false);
  });

  test.each([new UsageError("wrong order"), new TypeError("undefined is not a function")])(
    "a mistake of the program (%s) is not taken for trouble of the database",
    async (mistake) => {
      await expect(db.transaction(() => Promise.reject(mistake))).rejects.toBe(mistake);
    },
  );

  test("work that swallowed a database error has not been committed, and is told so", async () => {
    const swallowed = db.transaction(async (tx) => {
      await tx.query(...insertProject("swallowed"));
      await tx.query(adHoc("select 1/0")).catch(() => undefined);
      return "fine";
    });
    await expect(swallowed).rejects.toBeInstanceOf(ToolplaneError);
    expect(await hasProject("swallowed")).toBe(false);
  });

  test("what waits for the commit runs after it, in order, and never when there is none; outside it runs at once", async () => {
    const ran: string[] = [];
    await db.transaction(async (tx) => {
      await tx.query(...insertProject("awaited"));
      await tx.afterCommit(async () => {
        ran.push(`committed: ${await hasProject("awaited")}`);
      });
      await tx.afterCommit(() => {
        ran.push("second");
      });
      expect(ran).toEqual([]);
    });
    expect(ran).toEqual(["committed: true", "second"]);
    const refused = db.transaction(async (tx) => {
      await tx.afterCommit(() => {
        ran.push("never");
      });
      throw new UsageError("no");
    });
    await expect(refused).rejects.toThrow("no");
    expect(ran).toHaveLength(2);
    await db.afterCommit(() => {
      ran.push("at once");
    });
    expect(ran.at(-1)).toBe("at once");
  });

  test("a deferred refusal at commit is an error", async () => {
    await expect(
      db.transaction(async (tx) => {
        await tx.query(...insertProject("twice"));
        await tx.query(...insertProject("twice"));
      }),
    ).rejects.toMatchObject({ code: "internal_error", detail: { sqlstate: "23505", constraint: "projects_pkey" } });
  });
});

describe("a server that hangs up", () => {
  const hangUpOn = (pid: number): Promise<unknown> => {
    const other = createDatabase({ connection: { connectionString: server.url }, maxConnections: 1 });
    return other.query(adHoc("select pg_terminate_backend($1)"), [pid]).finally(() => other.close());
  };

  test("in the middle of a transaction: a retryable error, nothing written, the process lives, the next one works", async () => {
    const broken = db.transaction(async (tx) => {
      await tx.query(...insertProject("hung"));
      const [row] = await tx.query<{ pid: number }>(adHoc("select pg_backend_pid() as pid"));
      await hangUpOn(row?.pid ?? 0);
      // Until the news arrives the connection looks fine; then every statement fails.
      for (;;) await tx.query(adHoc("select 1"));
    });
    await expect(broken).rejects.toMatchObject({ code: "storage_error" });
    expect(await hasProject("hung")).toBe(false);
    await db.transaction((tx) => tx.query(...insertProject("after")));
    expect(await hasProject("after")).toBe(true);
  });

  test("while the transaction thinks about something else", async () => {
    const broken = db.transaction(async (tx) => {
      const [row] = await tx.query<{ pid: number }>(adHoc("select pg_backend_pid() as pid"));
      await hangUpOn(row?.pid ?? 0);
      const gone = async (): Promise<boolean> =>
        (await db.query(adHoc("select from pg_stat_activity where pid = $1"), [row?.pid])).length === 0;
      while (!(await gone()));
      return "finished";
    });
    await expect(broken).rejects.toMatchObject({ code: "storage_error" });
  });
});

test("after close every query is a clear refusal", async () => {
  const closed = createDatabase({ connection: { connectionString: server.url } });
  await closed.close();
  await closed.close();
  await expect(closed.query(adHoc("select 1"))).rejects.toMatchObject({ code: "storage_error" });
  await expect(closed.transaction(async () => 1)).rejects.toMatchObject({ code: "storage_error" });
});

test("a server that is not there is a retryable error", async () => {
  const nowhere = createDatabase({ connection: { host: "/nonexistent", user: "x", database: "x" } });
  await expect(nowhere.query(adHoc("select 1"))).rejects.toMatchObject({ code: "storage_error" });
  await nowhere.close();
});

describe("the last statement of a transaction, sent with its commit", () => {
  const hold = { name: "test.hold", text: "select 1 as one", holds: true } as const;

  test("what it wrote is committed with what was written before", async () => {
    const rows = await db.transaction(async (tx) => {
      expect(await tx.query(hold)).toEqual([{ one: 1 }]);
      await tx.query(...insertProject("before_last"));
      return tx.last(
        adHoc("insert into resource.projects (project_id, title, owner_id) values ('last', 't', 'o') returning 1 as n"),
      );
    });
    expect(rows).toEqual([{ n: 1 }]);
    expect([await hasProject("before_last"), await hasProject("last")]).toEqual([true, true]);
  });

  test("when it fails, nothing is committed, and the connection goes on", async () => {
    const one = createDatabase({ connection: { connectionString: server.url }, maxConnections: 1 });
    const failing = one.transaction(async (tx) => {
      await tx.query(hold);
      await tx.query(...insertProject("undone"));
      return tx.last(adHoc("select 1 / $1::int as n"), [0]);
    });
    await expect(failing).rejects.toMatchObject({ detail: { sqlstate: "22012" } });
    expect(await hasProject("undone")).toBe(false);
    expect(await one.transaction((tx) => tx.query(hold))).toEqual([{ one: 1 }]);
    await one.close();
  });

  test("nothing may come after it", async () => {
    const late = db.transaction(async (tx) => {
      await tx.last(...insertProject("on_time"));
      await tx.query(...insertProject("too_late"));
    });
    await expect(late).rejects.toMatchObject({ code: "internal_error" });
    expect(await hasProject("too_late")).toBe(false);
  });

  test("a transaction without a statement sends nothing", async () => {
    const shut = createDatabase({ connection: { connectionString: server.url }, maxConnections: 1 });
    expect(await shut.transaction(async () => "nothing")).toBe("nothing");
    expect(
      await shut.transaction((tx) => tx.query(adHoc("select pg_current_xact_id_if_assigned() is null as none"))),
    ).toEqual([{ none: true }]);
    await shut.close();
  });
});
