// The database under a running stack: killed, dropped connections, taken away, and a server of one's own.

import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { createTestDatabase, ENGINE_TEMPLATE, isRunning, queryTestDatabase, until } from "@toolplane/testkit";
import { describe, expect, test, vi } from "vitest";
import { makePlace, makeUsedPlace } from "./data.ts";
import { databasePid, databaseUrl, PATIENCE_MS, startUp, type UpProcess } from "./up-process.ts";

// Several starts of a whole stack, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

const DEMO = ["--demo"];
const echo = { tool_name: "echo", arguments: { text: "hello" }, wait_seconds: 30 };

const health = async (up: UpProcess): Promise<number> => (await up.request("GET", "/health")).status;

describe("[API-4-7] health", () => {
  test("says status, version, protocol, store, bus and roles, and 503 while starting", async () => {
    await using place = await makePlace();
    await using up = startUp({ dataDir: place.dataDir });
    await up.said('"starting"');
    const address = (JSON.parse(up.stderr().split("\n")[0] ?? "{}") as { address: string }).address;
    const early = await fetch(`http://${address}/health`);
    const late = await fetch(`http://${address}/projects`, { headers: { authorization: "Bearer x" } });
    expect([early.status, ((await early.json()) as { status: string }).status]).toEqual([503, "starting"]);
    expect(late.status).toBe(503);
    expect((await fetch(`http://${address}/live`)).status).toBe(200);
    expect(await up.ready()).toBe(`http://${address}`);
    expect((await up.request("GET", "/health")).body).toEqual({
      status: "ok",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      protocol: "v1r4",
      store: "embedded",
      bus: "postgres",
      roles: ["api", "worker", "pmo", "tools"],
      loop_pause_ms: expect.any(Number),
    });
  });

  test("[SEC-9-U7] SIGUSR1 does not open a debugger, which would hand over everything the server knows", async () => {
    await using place = await makeUsedPlace();
    await using up = startUp({ dataDir: place.dataDir });
    await up.ready();
    process.kill(up.pid, "SIGUSR1");
    // Node says so on stderr at once; by the time these are answered it would have.
    for (let times = 0; times < 20; times += 1) expect(await health(up)).toBe(200);
    expect(up.stderr()).not.toContain("Debugger listening");
  });

  test("[UP-5-2] a database that is killed is 503, is started again, and calls go on", async () => {
    await using place = await makeUsedPlace();
    await using up = startUp({ dataDir: place.dataDir, args: DEMO });
    await up.ready();
    const before = databasePid(up);
    // Stopped first: it can neither answer nor be replaced until we have looked.
    process.kill(before, "SIGSTOP");
    const running = up.request("POST", "/projects/demo/calls", { ...echo, wait_seconds: 0 });
    process.kill(before, "SIGKILL");
    await until("503", async () => (await health(up)) === 503, PATIENCE_MS);
    await running.catch(() => undefined);
    await up.said("the database is back");
    await until("health", async () => (await health(up)) === 200, PATIENCE_MS);
    expect(databasePid(up)).not.toBe(before);
    const { status, body } = await up.request("POST", "/projects/demo/calls", echo);
    expect([status, body.result]).toEqual([200, { text: "hello" }]);
    expect(await up.stop()).toBe(0);
  });
});

test("[UP-5-3] a server that only drops the owner's connection keeps running, and the lock is taken again", async () => {
  await using place = await makeUsedPlace();
  await using up = startUp({ dataDir: place.dataDir });
  await up.ready();
  const server = databasePid(up);
  const url = databaseUrl(place.dataDir);
  const owner = "select pid from pg_stat_activity where application_name like 'toolplane up %'";
  const drop = `select pg_terminate_backend(pid) from (${owner}) o`;
  await queryTestDatabase(url, drop);
  await up.said("the database is back");
  expect(databasePid(up)).toBe(server);
  expect(isRunning(server)).toBe(true);
  // The connection that was dropped may still be on its way out.
  await expect.poll(() => queryTestDatabase(url, owner)).toHaveLength(1);
});

test("[UP-5-4] an owner that lost its data directory to another stops instead of sharing it", async () => {
  await using place = await makeUsedPlace();
  await using up = startUp({ dataDir: place.dataDir });
  await up.ready();
  const url = databaseUrl(place.dataDir);
  // One session ends the owner's and takes the lock in its place.
  const steal = `do $$ begin
    perform pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like 'toolplane up %';
    perform pg_advisory_lock(7420, 2);
    perform pg_sleep(600);
  end $$`;
  const thief = queryTestDatabase(url, steal).catch(() => undefined);
  expect(await up.exited).toBe(1);
  expect(up.stderr()).toContain("already running");
  await thief;
});

describe("[UP-3-1] the token file", () => {
  test("that is lost is made again, and the old token is revoked", async () => {
    await using place = await makeUsedPlace();
    const { dataDir } = place;
    const file = join(dataDir, "token");
    const old = readFileSync(file, "utf8").trim();
    rmSync(file);
    await using up = startUp({ dataDir });
    await up.ready();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8").trim()).not.toBe(old);
    expect((await up.request("GET", "/projects")).status).toBe(200);
    expect((await up.request("GET", "/projects", undefined, { authorization: `Bearer ${old}` })).status).toBe(401);
    const { body } = await up.request("GET", "/tokens");
    const live = body.items.filter(({ revoked_at: at }: { readonly revoked_at: string | null }) => at === null);
    expect(live).toHaveLength(1);
  });
});

/** What a statement that needs room hears of a server whose disk is full. */
const FULL_DISK = `create function refuse() returns trigger language plpgsql as $$
  begin raise exception using errcode = 'disk_full'; end $$;
  create trigger refuse before insert on state.live_calls execute function refuse()`;

/** [UP-5-6] */
const refuseAndTakeAgain = async (up: UpProcess, url: string): Promise<void> => {
  await queryTestDatabase(url, FULL_DISK);
  expect((await up.request("POST", "/projects/demo/calls", echo)).status).toBe(503);
  const { status, body } = await up.request("GET", "/health");
  expect([status, body.status]).toEqual([503, "store_refuses"]);
  await queryTestDatabase(url, "drop function refuse cascade");
  expect((await up.request("POST", "/projects/demo/calls", echo)).status).toBe(200);
  expect(await health(up)).toBe(200);
};

describe("[UP-5-5] [UP-5-6] a server of one's own", () => {
  test("is used by its URL, by several at once, and is left running", async () => {
    await using place = await makePlace();
    const database = await createTestDatabase({ name: "own", migrate: async () => undefined });
    try {
      const args = ["--database-url", database.url, "--demo"];
      await using up = startUp({ dataDir: place.dataDir, args });
      await using other = startUp({ dataDir: `${place.dataDir}-2`, env: { TOOLPLANE_DATABASE_URL: database.url } });
      const { body } = await up.request("GET", "/health");
      expect(body).toMatchObject({ status: "ok", store: "postgres" });
      await other.ready();
      const { status } = await other.request("POST", "/projects/demo/calls", echo);
      expect(status).toBe(200);
      await refuseAndTakeAgain(other, database.url);
      expect(await up.stop()).toBe(0);
      expect(await other.stop()).toBe(0);
      expect(up.stderr()).not.toContain(database.url);
    } finally {
      await database.drop();
    }
  });

  test("[ARCH-5-12] keeps its address and token: a plane with another database is refused, one with the same is not", async () => {
    await using place = await makePlace();
    const { dataDir } = place;
    const database = await createTestDatabase(ENGINE_TEMPLATE);
    const another = await createTestDatabase(ENGINE_TEMPLATE);
    try {
      const files = () => ["address", "token"].map((name) => readFileSync(join(dataDir, name), "utf8"));
      const own = ["--database-url", database.url];
      await using up = startUp({ dataDir, args: own });
      const url = await up.ready();
      const kept = files();
      for (const args of [[], ["--database-url", another.url]]) {
        await using other = startUp({ dataDir, args });
        expect(await other.exited).toBe(1);
        expect(other.stderr().trimEnd().split("\n").at(-1)).toBe(
          `toolplane: conflict: already running: a plane with another database serves ${url} and has its token and address in ${dataDir}; stop it first, start with another --data, or give both the same --database-url`,
        );
        expect(files()).toEqual(kept);
      }
      expect(existsSync(join(dataDir, "postgres"))).toBe(false);
      await using same = startUp({ dataDir, args: own });
      await same.ready();
      expect((await same.request("GET", "/projects")).status).toBe(200);
      expect(files()[1]).toBe(kept[1]);
    } finally {
      await database.drop();
      await another.drop();
    }
  });

  test("[ARCH-5-12] takes neither address nor token from a plane with an embedded database", async () => {
    await using place = await makeUsedPlace();
    const { dataDir } = place;
    const database = await createTestDatabase(ENGINE_TEMPLATE);
    try {
      await using up = startUp({ dataDir });
      const url = await up.ready();
      const token = readFileSync(join(dataDir, "token"), "utf8");
      await using other = startUp({ dataDir, args: ["--database-url", database.url] });
      expect(await other.exited).toBe(1);
      expect(other.stderr()).toContain(`already running: process ${up.pid} serves ${url} from ${dataDir}`);
      expect(readFileSync(join(dataDir, "address"), "utf8").trim()).toBe(url);
      expect(readFileSync(join(dataDir, "token"), "utf8")).toBe(token);
    } finally {
      await database.drop();
    }
  });

  test("[ARCH-5-12] an address that a killed plane left behind refuses nobody", async () => {
    await using place = await makePlace();
    const { dataDir } = place;
    const database = await createTestDatabase(ENGINE_TEMPLATE);
    try {
      await using up = startUp({ dataDir, args: ["--database-url", database.url] });
      const { port } = new URL(await up.ready());
      await up.killGroup();
      await using next = startUp({ dataDir, args: ["--port", port] });
      await next.ready();
      expect((await next.request("GET", "/projects")).status).toBe(200);
    } finally {
      await database.drop();
    }
  });

  test("that does not answer is one sentence without the password", async () => {
    await using place = await makePlace();
    const url = "postgresql://me:hunter2@127.0.0.1:1/db";
    await using up = startUp({ dataDir: place.dataDir, args: ["--database-url", url] });
    expect(await up.exited).toBe(1);
    const line = up.stderr().trimEnd().split("\n").at(-1) ?? "";
    expect(line).toContain("storage_error: the database 127.0.0.1:1/db cannot be used");
    expect(line).toContain("check --database-url");
    expect(up.stderr()).not.toContain("hunter2");
  });
});
