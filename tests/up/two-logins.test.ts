// A PostgreSQL of one's own with two logins, exactly as the guide says.

import { readFileSync } from "node:fs";
import { socketUrl } from "@toolplane/processes";
import { meddle, queryTestDatabase, startTestPostgres } from "@toolplane/testkit";
import { expect, test, vi } from "vitest";
import { makePlace } from "./data.ts";
import { startUp } from "./up-process.ts";

vi.setConfig({ testTimeout: 180_000 });

const GUIDE = readFileSync(new URL("../../docs/guides/run-it.md", import.meta.url), "utf8");
const block = (language: string, word: string): string =>
  GUIDE.split(`\`\`\`${language}\n`)
    .map((part) => part.split("```")[0] ?? "")
    .find((part) => part.includes(word)) ?? "";

const echo = { tool_name: "echo", arguments: { text: "hello" }, wait_seconds: 30 };

test("[SEC-DB-9] the plane runs as a login that owns nothing; pending migrations need the owner's, and it says so", async () => {
  await using place = await makePlace();
  await using server = await startTestPostgres();
  const statements = block("sql", "plane_owner").trim().split(";\n");
  for (const statement of statements) await queryTestDatabase(server.url(), statement);
  expect(statements).toHaveLength(5);
  const urlOf = (user: string, password: string): string => socketUrl({ ...server.login(), user, password }, "plane");
  const runtime = { TOOLPLANE_DATABASE_URL: urlOf("plane", "second-secret") };
  const both = { ...runtime, TOOLPLANE_MIGRATION_DATABASE_URL: urlOf("plane_owner", "first-secret") };
  const start = (env: Readonly<Record<string, string>>) => startUp({ dataDir: place.dataDir, env, args: ["--demo"] });
  {
    await using refused = start(runtime);
    expect(await refused.exited).toBe(1);
    const last = refused.stderr().trimEnd().split("\n").at(-1) ?? "";
    expect(last).toContain("migrations are pending, and the database login plane may not apply them");
    // Word for word what the guide shows.
    expect(GUIDE).toContain(`\`\`\`\n${last}\n\`\`\``);
  }
  const refusalOf = async (env: Readonly<Record<string, string>>): Promise<string> => {
    await using refused = start(env);
    expect(await refused.exited).toBeGreaterThan(0);
    expect(refused.stderr()).not.toMatch(/first-secret|second-secret/);
    return refused.stderr().trimEnd().split("\n").at(-1) ?? "";
  };
  {
    // Migrations never go into another database than the plane runs on.
    await queryTestDatabase(server.url(), "create database other owner plane_owner");
    const other = socketUrl({ ...server.login(), user: "plane_owner", password: "first-secret" }, "other");
    const said = await refusalOf({ ...runtime, TOOLPLANE_MIGRATION_DATABASE_URL: other });
    expect(said).toMatch(
      /^toolplane: bad_request: TOOLPLANE_MIGRATION_DATABASE_URL names \S+\/other and the plane runs on \S+\/plane; both must be the same database$/,
    );
    const rows = await queryTestDatabase(
      server.url("other"),
      "select to_regclass('public.toolplane_migrations') as made",
    );
    expect(rows).toEqual([{ made: null }]);
    const wrong = urlOf("plane_owner", "wrong");
    expect(await refusalOf({ ...runtime, TOOLPLANE_MIGRATION_DATABASE_URL: wrong })).toMatch(
      /^toolplane: storage_error: .*password authentication failed.*; check TOOLPLANE_MIGRATION_DATABASE_URL$/,
    );
  }
  {
    await using first = start(both);
    expect((await first.request("POST", "/projects/demo/calls", echo)).body).toMatchObject({ status: "success" });
    expect(await first.stop()).toBe(0);
    expect(first.stderr()).not.toMatch(/first-secret|second-secret/);
  }
  await queryTestDatabase(server.url(), "revoke toolplane_engine from plane");
  for (const env of [runtime, both])
    expect(await refusalOf(env)).toBe(
      "toolplane: conflict: the database login plane has no rights on the tables; as an administrator: grant toolplane_engine to plane",
    );
  await queryTestDatabase(server.url(), "grant toolplane_engine to plane");
  await using second = start(runtime);
  expect((await second.request("POST", "/projects/demo/calls", echo)).body).toMatchObject({ status: "success" });
  expect(await second.stop()).toBe(0);
  const denied = { code: "42501" };
  const { TOOLPLANE_DATABASE_URL: url } = runtime;
  await expect(queryTestDatabase(url, "copy (select 1) to program 'cat'")).rejects.toMatchObject(denied);
  await expect(queryTestDatabase(url, "drop table cards.cards")).rejects.toMatchObject(denied);
  // An upgrade brings a migration: the table has it no more, so it is pending.
  await meddle(server.url("plane"), "forgetLastMigrations");
  await using old = start(runtime);
  expect(await old.exited).toBe(1);
  expect(old.stderr()).toContain("may not apply them; start once with TOOLPLANE_MIGRATION_DATABASE_URL");
});
