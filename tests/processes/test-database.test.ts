// The databases test files get: fresh, separate, cloned from a template that is migrated once.

import { createTestDatabase, queryTestDatabase as query, startDebianPostgres, withPostgres } from "@toolplane/testkit";
import { expect, test } from "vitest";

test("a template is migrated once and every database made from it is separate", async () => {
  let migrations = 0;
  const template = {
    name: "processes_template",
    migrate: async (url: string) => {
      migrations += 1;
      await query(url, "create table notes(text text)");
    },
  };
  const [first, second] = await Promise.all([createTestDatabase(template), createTestDatabase(template)]);
  try {
    await query(first.url, "insert into notes values ('mine')");
    expect(await query(first.url, "select text from notes")).toEqual([{ text: "mine" }]);
    expect(await query(second.url, "select text from notes")).toEqual([]);
    expect(migrations).toBe(1);
  } finally {
    await first.drop();
    await second.drop();
  }
  await expect(query(first.url, "select 1")).rejects.toMatchObject({ code: "3D000" });
});

test("a test database without a template is empty", async () => {
  await using database = await createTestDatabase();
  const rows = await query(database.url, "select count(*)::int as n from pg_tables where schemaname = 'public'");
  expect(rows).toEqual([{ n: 0 }]);
});

test("a template's name cannot carry SQL", async () => {
  await expect(createTestDatabase({ name: 'x"; drop', migrate: async () => undefined })).rejects.toThrow("lower-case");
});

test("[ARCH-5-8] withPostgres gives a server of its own and Debian's 15 answers the same way", async () => {
  await withPostgres(async (server) => {
    expect(await query(server.url(), "select current_user as who")).toEqual([{ who: "toolplane" }]);
  });
  await using debian = await startDebianPostgres();
  expect(debian.version.startsWith("15.")).toBe(true);
  expect(await query(debian.url(), "select current_setting('server_version_num')::int / 10000 as major")).toEqual([
    { major: 15 },
  ]);
});
