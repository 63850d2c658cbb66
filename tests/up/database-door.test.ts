// The embedded database is no way out: neither a tool host of the plane nor another user of the machine gets into it, and
// what the plane itself logs in as cannot leave the database.

import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findLivePostgres, RUNTIME, socketUrl } from "@toolplane/processes";
import { commandOf, queryTestDatabase, until } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makePlace, type Place } from "./data.ts";
import { databaseUrl, PATIENCE_MS, startUp, type UpProcess } from "./up-process.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const HOST = fileURLToPath(new URL("./programs/curious-host.ts", import.meta.url));
const LIMITS = { hello_ms: 20_000, startup_ms: 40_000 };

let place: Place;
let up: UpProcess;

beforeAll(async () => {
  place = await makePlace();
  const command = ["node", "--conditions=source", HOST];
  // As the server's own user: a user of its own would not even reach the socket.
  const hosts = [{ name: "curious", command, sandbox: {}, user: "inherit", prefix: "", limits: LIMITS }];
  writeFileSync(join(place.root, "toolplane.yaml"), JSON.stringify({ project: "demo", hosts }));
  up = startUp({ dataDir: place.dataDir, cwd: place.root });
  await up.ready();
});
afterAll(async () => {
  await up?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

/** What a look at the data directory must not show. */
const secretsOf = (dataDir: string): readonly string[] => [
  ...["database-key", "token"].map((name) => readFileSync(join(dataDir, name), "utf8").trim()),
  findLivePostgres(dataDir, { makeKey: false })?.login().password ?? "",
  findLivePostgres(dataDir, { makeKey: false })?.login(RUNTIME).password ?? "",
  new URL(databaseUrl(dataDir).replace("@/", "@local/")).password,
];

/** No password was given or a wrong one, or the socket cannot even be reached. */
const SHUT = /password|EACCES|ERR_ACCESS_DENIED/;

test("[SEC-DB-1] a sandboxed host that reaches the database's socket cannot log in, and reads no password", async () => {
  const isThere = async (): Promise<boolean> => (await up.request("GET", "/projects/demo/tools/look")).status === 200;
  await until("the host's tool", isThere, PATIENCE_MS);
  const call = { tool_name: "look", arguments: { data_dir: place.dataDir }, wait_seconds: 60 };
  const { body } = await up.request("POST", "/projects/demo/calls", call);
  const found = body.result as { files: string[]; tries: string[]; variables: string[] };
  expect(found.tries).toHaveLength(12);
  for (const said of [...found.files, ...found.tries]) expect(said).toMatch(SHUT);
  for (const secret of secretsOf(place.dataDir)) expect(JSON.stringify(found)).not.toContain(secret);
});

/** What a process of another user gets when it tries. */
const asOther = (program: string, path: string): string => {
  try {
    const user = { uid: 65_534, gid: 65_534 };
    // A program of the system's: a checkout may be closed to that user.
    const env = { PATH: "/usr/bin:/bin", LC_ALL: "C" };
    return execFileSync(program, [path], { ...user, cwd: "/", env, stdio: "pipe" }).toString();
  } catch (error) {
    return String((error as { readonly stderr?: unknown }).stderr);
  }
};
const SHUT_OUT = "Permission denied";

test("[SEC-DB-2] another user of the machine, nobody included, reaches neither the socket nor a file of the database", () => {
  const of = (path: string): string => join(place.dataDir, path);
  for (const path of ["token", "database-key", "database-url"]) expect(lstatSync(of(path)).mode & 0o077).toBe(0);
  for (const path of ["postgres/cluster", "postgres/socket"]) expect(lstatSync(of(path)).mode & 0o077).toBe(0);
  expect(lstatSync(of("postgres")).mode & 0o007).toBe(0);
  // Only root can become another user to try it.
  if (process.getuid?.() !== 0) return;
  // Who cannot look at a socket cannot connect to it either: the folder around it is closed.
  expect(asOther("ls", of("postgres/socket/.s.PGSQL.5432"))).toContain(SHUT_OUT);
  const files = ["postgres/cluster/PG_VERSION", "postgres/cluster/pg_hba.conf", "postgres/server.log"];
  for (const path of [...files, "token", "database-key", "database-url"])
    expect(asOther("cat", of(path))).toContain(SHUT_OUT);
  // The key is not the database's either: who owns the cluster's files owns nothing beside them.
  expect(lstatSync(of("database-key")).uid).toBe(0);
  expect(lstatSync(of("postgres/cluster")).uid).not.toBe(0);
});

const DENIED = "42501";

test.each([
  ["run a program", "copy (select 1) to program 'cat > /dev/null'"],
  ["read a program's output", "do $$ begin create temp table t (x text); copy t from program 'id'; end $$"],
  ["read a file", "select pg_read_file('postgresql.conf')"],
  ["list a folder", "select pg_ls_dir('/')"],
  ["write a file", "copy (select 1) to '/tmp/toolplane-should-not-be'"],
  ["import a file", "select lo_import('/etc/passwd')"],
  ["make an extension", "create extension hstore"],
  [
    "make a function of an untrusted language",
    "create function pg_temp.f() returns int language c as 'libc', 'getpid'",
  ],
  ["make a function", "create function public.f() returns int language sql as 'select 1'"],
  ["make a table", "create table public.mine (x int)"],
  ["make a role", "create role mine"],
  ["change another role's password", "alter role toolplane password 'x'"],
  ["change a role's rights", "alter role toolplane_runtime superuser"],
  ["write the roles", "update pg_authid set rolsuper = true"],
  ["read the passwords", "select * from pg_authid"],
  ["become the owner", "set role toolplane_owner"],
  ["become the superuser", "set role toolplane"],
  ["change the server's settings", "alter system set archive_command = 'id'"],
  ["drop a table", "drop table cards.cards"],
  ["make the migrations look different", "delete from public.toolplane_migrations"],
])("[SEC-DB-3] the login the plane runs as cannot %s", async (_what, text) => {
  const login = findLivePostgres(place.dataDir, { makeKey: false })?.login(RUNTIME);
  expect(login).toBeDefined();
  if (login === undefined) return;
  await expect(queryTestDatabase(socketUrl(login, "postgres"), text)).rejects.toMatchObject({ code: DENIED });
});

test("[SEC-DB-7] the operator's way in is <data>/database-url: it sees everything and is not a superuser", async () => {
  const url = databaseUrl(place.dataDir);
  const [who] = await queryTestDatabase(
    url,
    "select current_user as who, usesuper from pg_user where usename = current_user",
  );
  expect(who).toEqual({ who: "toolplane_owner", usesuper: false });
  expect(await queryTestDatabase(url, "select role from resource.tokens")).not.toEqual([]);
  const running =
    "select distinct usename from pg_stat_activity where application_name like 'toolplane%' and query <> ''";
  expect(await queryTestDatabase(url, running)).toContainEqual({ usename: RUNTIME });
  await expect(queryTestDatabase(url, "copy (select 1) to program 'cat'")).rejects.toMatchObject({ code: DENIED });
});

test("[SEC-DB-8] no password is in a command line, a log or /health", async () => {
  const lines = up.family().map(({ pid }) => commandOf(pid));
  const health = JSON.stringify((await up.request("GET", "/health")).body);
  const log = readFileSync(join(place.dataDir, "postgres", "server.log"), "utf8");
  const said = [...lines, health, log, up.stdout(), up.stderr()].join("\n");
  expect(said).toContain("postgres");
  for (const secret of secretsOf(place.dataDir)) {
    expect(secret.length).toBeGreaterThan(20);
    expect(said).not.toContain(secret);
  }
  expect(readdirSync(join(place.dataDir, "postgres")).sort()).toEqual(["cluster", "server.log", "socket"]);
});
