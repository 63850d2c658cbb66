import { createTestDatabase, queryTestDatabase } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { createEngine } from "../engine.ts";
import { silentLog } from "../ports/log.ts";
import { type Migration, migrate, planMigrations, readMigrations } from "./migrate.ts";

const known = (...names: string[]): Migration[] =>
  names.map((name, i) => ({ number: i + 1, name, sql: "", hash: `hash of ${name}` }));
const applied = (migrations: readonly Migration[]) =>
  migrations.map(({ number, name, hash }) => ({ number, name, hash }));

describe("planMigrations", () => {
  const all = known("0001-a", "0002-b", "0003-c");

  test.each([0, 1, 2, 3])("with %i applied the rest is to do, in order", (count) => {
    expect(planMigrations(all, applied(all.slice(0, count)))).toEqual(all.slice(count));
  });

  test("a database ahead of this code is refused by name", () => {
    expect(() => planMigrations(all.slice(0, 2), applied(all))).toThrow(/0003-c.*upgrade/);
  });

  test("[ARCH-5-E6] a migration that changed after it was applied is refused", () => {
    const [first, ...rest] = applied(all);
    expect(() => planMigrations(all, [{ ...first, hash: "other" } as never, ...rest])).toThrow(/0001-a.*never change/);
  });
});

test("[ARCH-5-E6] the files are numbered without gaps and read in order", async () => {
  const migrations = await readMigrations();
  expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, i) => i + 1));
  expect(migrations[0]?.name).toBe("0001-state");
});

describe("migrate", () => {
  test("[ARCH-5-E7] brings an empty database up once; the second time there is nothing to do", async () => {
    await using database = await createTestDatabase();
    const names = (await readMigrations()).map(({ name }) => name);
    expect(await migrate({ connectionString: database.url })).toEqual({ applied: names, role: "toolplane_engine" });
    expect(await migrate({ connectionString: database.url })).toEqual({ applied: [], role: "toolplane_engine" });
  });

  test("the log has what was applied once, and nothing when there was nothing to do", async () => {
    await using database = await createTestDatabase();
    const lines: unknown[] = [];
    const log = { ...silentLog, info: (...said: unknown[]) => void lines.push(said) };
    for (let start = 0; start < 2; start++) {
      const connection = { connectionString: database.url };
      await (await createEngine({ connection, log, watchdog: false })).close();
    }
    const migrations = (await readMigrations()).map(({ name }) => name);
    expect(lines).toEqual([["migrations were applied to the database", { migrations }]]);
  });

  test("[ARCH-5-E7] eight at once on one database: exactly one of them does each migration", async () => {
    await using database = await createTestDatabase();
    const results = await Promise.all(Array.from({ length: 8 }, () => migrate({ connectionString: database.url })));
    const names = (await readMigrations()).map(({ name }) => name);
    expect(results.flatMap((result) => result.applied).sort()).toEqual([...names].sort());
  });

  test("[ARCH-5-E7] four databases of one server at once: the roles they share do not get in the way", async () => {
    const databases = await Promise.all(Array.from({ length: 4 }, () => createTestDatabase()));
    try {
      const results = await Promise.all(databases.map(({ url }) => migrate({ connectionString: url })));
      expect(results.every(({ role }) => role === "toolplane_engine")).toBe(true);
    } finally {
      await Promise.all(databases.map((database) => database.drop()));
    }
  });

  test("[ARCH-5-E6] refuses a database whose history differs, and changes nothing", async () => {
    await using database = await createTestDatabase();
    await migrate({ connectionString: database.url });
    await queryTestDatabase(database.url, "update public.toolplane_migrations set hash = 'other' where number = 1");
    await expect(migrate({ connectionString: database.url })).rejects.toMatchObject({ code: "conflict" });
    await queryTestDatabase(
      database.url,
      "insert into public.toolplane_migrations (number, name, hash) values (9999, '9999-future', 'x')",
    );
    await expect(migrate({ connectionString: database.url })).rejects.toMatchObject({ code: "conflict" });
  });

  test("a migration that fails leaves nothing of itself, and the lock is free again", async () => {
    await using database = await createTestDatabase();
    // In the way of the first migration.
    await queryTestDatabase(database.url, "create schema cards");
    await expect(migrate({ connectionString: database.url })).rejects.toMatchObject({ code: "internal_error" });
    const left = await queryTestDatabase(
      database.url,
      "select nspname from pg_namespace where nspname in ('resource', 'state', 'bus')",
    );
    expect(left).toEqual([]);
    await queryTestDatabase(database.url, "drop schema cards");
    expect((await migrate({ connectionString: database.url })).applied.length).toBeGreaterThan(0);
  });

  test("what is pending is applied by the owner's login alone; with nothing pending that login is not used", async () => {
    await using database = await createTestDatabase();
    const connection = { connectionString: database.url };
    const owner = { host: "/nonexistent", user: "x", database: "x" };
    await expect(migrate(connection, owner)).rejects.toMatchObject({ code: "storage_error" });
    expect((await migrate(connection, connection)).applied.length).toBeGreaterThan(0);
    expect(await migrate(connection, owner)).toEqual({ applied: [], role: "toolplane_engine" });
  });

  test("a server that is not there is a retryable error", async () => {
    await expect(migrate({ host: "/nonexistent", user: "x", database: "x" })).rejects.toMatchObject({
      code: "storage_error",
    });
  });
});
