// A life of the embedded server on data directories that are not as this version leaves them.

import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "@toolplane/engine";
import { migrate } from "@toolplane/engine/internal";
import {
  findLivePostgres,
  OWNER,
  pickPreviousRunAs,
  pickRunAs,
  processGuard,
  RUNTIME,
  type SocketLogin,
  socketUrl,
} from "@toolplane/processes";
import {
  makePreviousDatabase,
  makeTestDirectory,
  meddle,
  queryTestDatabase,
  until,
  withTestClient,
} from "@toolplane/testkit";
import { expect, test } from "vitest";
import { alreadyRunning, beginLife, DATABASE, type ServerLife } from "./server-life.ts";

interface Place extends AsyncDisposable {
  readonly dataDir: string;
}

const makePlace = async (): Promise<Place> => {
  const { path, remove } = await makeTestDirectory();
  return { dataDir: path, [Symbol.asyncDispose]: remove };
};

const previousIn = ({ dataDir }: Place) =>
  makePreviousDatabase({
    dataDir,
    guard: processGuard(),
    fill: async (url) => {
      await migrate({ connectionString: url });
      await meddle(url, "addProject", ["kept"]);
    },
  });

const begin = ({ dataDir }: Place, log = silentLog): Promise<ServerLife> =>
  beginLife({ dataDir, guard: processGuard(), throwAway: true, self: { pid: process.pid, address: undefined }, log });

const end = async ({ server, lock }: ServerLife): Promise<void> => {
  await lock.release();
  await server.stop();
};

const urlOf = ({ server }: ServerLife, user: string): string => socketUrl(server.login(user), DATABASE);

/** The SQLSTATE a login without a password, or with a wrong one, is answered with; "in" when it is let in. */
const tryLogin = (login: SocketLogin): Promise<string> =>
  withTestClient(socketUrl({ ...login, password: "wrong" }, DATABASE), async () => "in").catch(
    (error: { readonly code?: string }) => String(error.code),
  );

const WRONG_PASSWORD = "28P01";
const NOT_OURS = `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('resource', 'cards', 'state', 'bus', 'public') and c.relowner <> 'toolplane_owner'::regrole
    and c.relkind in ('r', 'v', 'S')
  union all select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname in ('resource', 'cards', 'state', 'bus') and p.proowner <> 'toolplane_owner'::regrole`;

const expectClosed = async (life: ServerLife): Promise<void> => {
  for (const user of ["toolplane", OWNER, RUNTIME])
    expect(await tryLogin(life.server.login(user))).toBe(WRONG_PASSWORD);
  const owner = urlOf(life, OWNER);
  expect(await queryTestDatabase(owner, NOT_OURS)).toEqual([]);
  const [row] = await queryTestDatabase(owner, "select rolsuper from pg_roles where rolname = 'toolplane_owner'");
  expect(row).toEqual({ rolsuper: false });
  const kept = "select project_id from resource.projects";
  expect(await queryTestDatabase(urlOf(life, RUNTIME), kept)).toEqual([{ project_id: "kept" }]);
};

const filesOf = (path: string): readonly string[] =>
  lstatSync(path).isDirectory() ? [path, ...readdirSync(path).flatMap((name) => filesOf(join(path, name)))] : [path];

test("[SEC-DB-4] a stopped database of an earlier version gets passwords, logins and, as root, a user of its own", async () => {
  await using place = await makePlace();
  const previous = await previousIn(place);
  await previous.server.stop();
  const said: string[] = [];
  const log = { ...silentLog, info: (text: string) => void said.push(text) };
  const life = await begin(place, log);
  expect(said).toEqual([
    "this data directory was made by an earlier version and is brought over: passwords are set, earlier versions cannot use it any more",
  ]);
  await expectClosed(life);
  const uid = pickRunAs()?.uid ?? process.getuid?.();
  expect(lstatSync(join(place.dataDir, "postgres", "cluster")).uid).toBe(uid);
  const before = pickPreviousRunAs()?.uid ?? -1;
  expect(filesOf(join(place.dataDir, "postgres")).filter((path) => lstatSync(path).uid === before)).toEqual([]);
  expect(lstatSync(join(place.dataDir, "database-key")).mode & 0o777).toBe(0o600);
  await end(life);
  await end(await begin(place, log));
  expect(said).toHaveLength(1);
});

test("[SEC-DB-5] a running one is closed while it runs: sessions and logins from before are out", async () => {
  await using place = await makePlace();
  const previous = await previousIn(place);
  const { life, ended } = await withTestClient(previous.url, async (intruder) => {
    await intruder.query("create role intruder superuser login password 'known'");
    const gone = new Promise<boolean>((resolve) => intruder.once("end", () => resolve(true)));
    return { life: await begin(place), ended: await gone };
  });
  expect([life.server.adopted, life.server.pid, ended]).toEqual([true, previous.server.pid, true]);
  await expectClosed(life);
  const intruder = socketUrl({ ...life.server.login("intruder"), password: "known" }, DATABASE);
  await expect(queryTestDatabase(intruder, "select 1")).rejects.toMatchObject({ code: "28000" });
  await end(life);
  await previous.server.exited;
});

test("a living owner of an earlier version is not cut off: the newcomer is told who it is", async () => {
  await using place = await makePlace();
  const previous = await previousIn(place);
  await withTestClient(previous.url, async (owner) => {
    await owner.query("select set_config('application_name', $1, false)", [`toolplane up ${process.pid} 127.0.0.1:1`]);
    await owner.query("select pg_advisory_lock(7420, 2)");
    const told = alreadyRunning(place.dataDir, { pid: process.pid, address: "127.0.0.1:1" });
    await expect(begin(place)).rejects.toThrow(told.message);
    expect((await owner.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
  expect(await previous.server.isOpen()).toBe(true);
  await previous.server.stop();
});

test("[SEC-DB-6] whatever a death in the middle of it left, the next start finishes", async () => {
  await using place = await makePlace();
  const previous = await previousIn(place);
  const rules = join(place.dataDir, "postgres", "cluster", "pg_hba.conf");
  const open = readFileSync(rules, "utf8");
  // The password is set, and the rules are those of before.
  await findLivePostgres(place.dataDir, { makeKey: true })?.secure();
  writeFileSync(rules, open);
  await previous.server.kill();
  const first = await begin(place);
  await expectClosed(first);
  // The rules are written, the server has not heard of them, and a login is half made.
  const closed = readFileSync(rules, "utf8");
  await queryTestDatabase(urlOf(first, "toolplane"), "alter role toolplane_runtime nologin superuser");
  writeFileSync(rules, open);
  process.kill(first.server.pid, "SIGHUP");
  await until("the server to be open", async () => (await tryLogin(first.server.login("toolplane"))) === "in");
  writeFileSync(rules, closed);
  await first.lock.release();
  const second = await begin(place);
  expect([second.server.adopted, second.server.pid]).toEqual([true, first.server.pid]);
  await expectClosed(second);
  // The key is lost, under a running server and under a stopped one.
  await second.lock.release();
  rmSync(join(place.dataDir, "database-key"));
  const third = await begin(place);
  expect(third.server.pid).toBe(second.server.pid);
  await expectClosed(third);
  await end(third);
  rmSync(join(place.dataDir, "database-key"));
  const fourth = await begin(place);
  await expectClosed(fourth);
  expect([open.includes("trust"), readFileSync(rules, "utf8").includes("trust")]).toEqual([true, false]);
  await end(fourth);
});
