// Starting: the first time, again, after a crash, on top of another one, and on what cannot be used.

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { findDescendants, isRunning, until, withTestClient } from "@toolplane/testkit";
import { describe, expect, test, vi } from "vitest";
import { makePlace, makeUsedPlace } from "./data.ts";
import { databasePid, databaseUrl, PATIENCE_MS, startUp } from "./up-process.ts";

// Several starts of a whole stack, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

const DEMO = ["--demo"];

const inSeconds = async (what: string, work: Promise<unknown>): Promise<void> => {
  const began = performance.now();
  await work;
  process.stderr.write(`${what}: ${((performance.now() - began) / 1_000).toFixed(2)} s\n`);
};

const echo = { tool_name: "echo", arguments: { text: "hello" }, wait_seconds: 30 };

test("[API-2-1] [API-4-2] a first start ends in ready, a token of its own and a demo project; the second finds all of it", async () => {
  await using place = await makePlace();
  const { dataDir } = place;
  let token: string;
  {
    await using up = startUp({ dataDir, args: DEMO });
    await inSeconds("first start", up.ready());
    expect(up.stdout()).toMatch(
      /^console {2}http:\/\/127\.0\.0\.1:\d+\/#login=[0-9a-f]{64}\nready http:\/\/127\.0\.0\.1:\d+\n$/,
    );
    expect(statSync(join(dataDir, "token")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, ".gitignore"), "utf8")).toBe("*\n");
    token = readFileSync(join(dataDir, "token"), "utf8");
    const { status, body } = await up.request("POST", "/projects/demo/calls", echo);
    expect({ http: status, ...body }).toMatchObject({ http: 200, result: { text: "hello" } });
    expect(await up.stop()).toBe(0);
    expect(up.stdout().trimEnd().split("\n")).toHaveLength(2);
    expect(up.stderr()).not.toContain("hello");
  }
  const made = statSync(join(dataDir, "postgres", "cluster", "PG_VERSION")).ino;
  await using up = startUp({ dataDir, args: DEMO });
  await inSeconds("second start", up.ready());
  expect(statSync(join(dataDir, "postgres", "cluster", "PG_VERSION")).ino).toBe(made);
  expect(readFileSync(join(dataDir, "token"), "utf8")).toBe(token);
  const { body } = await up.request("GET", "/projects/demo/calls");
  expect(body.items).toHaveLength(1);
  expect(await up.stop()).toBe(0);
});

test("[UP-5-1] killed with its whole process group it starts again without a manual step, and every call settles", async () => {
  await using place = await makeUsedPlace();
  const { dataDir } = place;
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
  const make = (key: string) => ({
    tool_name: "sleep",
    arguments: { seconds: 0.2 },
    idempotency_key: key,
    wait_seconds: 0,
  });
  // What the killed one held is offered again after a lease: the default would only be waited for.
  const env = { TOOLPLANE_LEASE_SECONDS: "4" };
  {
    await using up = startUp({ dataDir, args: DEMO, env });
    const { body } = await up.request("POST", "/projects/demo/calls/batch", keys.map(make));
    expect(body).toBeTruthy();
    // At once again: the guard of the dead one is still ending its database.
    await up.killGroup();
  }
  await using up = startUp({ dataDir, args: DEMO, env });
  await up.ready();
  const settled = async (): Promise<boolean> => {
    const { body } = await up.request("GET", "/projects/demo/calls?limit=100");
    return body.items.every(({ status }: { readonly status: string }) => status === "success");
  };
  await until("every call to settle", settled, PATIENCE_MS);
  const { body } = await up.request("GET", "/projects/demo/calls?limit=100");
  expect(body.items).toHaveLength(keys.length);
});

/** Somebody did not get the lock and asks who has it. */
const UNTIL_MET = `do $$ begin
  while not exists (
    select from pg_stat_activity
     where application_name like 'toolplane up %' and query like '%from pg_locks%' and pid <> pg_backend_pid()
  ) loop
    perform pg_sleep(0.002), pg_stat_clear_snapshot();
  end loop;
end $$`;

test("[ARCH-5-11] a live database server without an owner is adopted, used and stopped", async () => {
  await using place = await makeUsedPlace();
  const { dataDir } = place;
  let [server, owner] = [0, 0];
  {
    await using up = startUp({ dataDir, args: DEMO });
    await up.ready();
    server = databasePid(up);
    const guards = up.family().filter(({ pid, ppid }) => ppid === up.pid && pid !== server);
    // Its guard first, then itself before it can start another: nobody is left to end the server.
    up.signal("SIGSTOP");
    for (const { pid } of guards) process.kill(pid, "SIGKILL");
    await up.killGroup();
    expect(isRunning(server)).toBe(true);
    owner = up.pid;
  }
  const url = databaseUrl(dataDir);
  await using up = await withTestClient(url, async (client) => {
    // A connection of the dead owner that is slow to go: it has the lock until somebody has met it.
    await client.query("select set_config('application_name', $1, false)", [`toolplane up ${owner}`]);
    await client.query("select pg_advisory_lock(7420, 2)");
    const next = startUp({ dataDir, args: DEMO });
    await client.query(UNTIL_MET);
    return next;
  });
  await up.ready();
  expect(up.stderr()).toContain("adopted");
  expect(databasePid(up)).toBe(server);
  const { status } = await up.request("POST", "/projects/demo/calls", echo);
  expect(status).toBe(200);
  expect(await up.stop()).toBe(0);
  expect(isRunning(server)).toBe(false);
});

describe("[ARCH-5-12] a data directory somebody runs on", () => {
  test("is refused naming the process and its address, and nothing is killed", async () => {
    await using place = await makeUsedPlace();
    await using up = startUp({ dataDir: place.dataDir });
    const url = await up.ready();
    const server = databasePid(up);
    for (const args of [[], ["--port", new URL(url).port]]) {
      await using other = startUp({ dataDir: place.dataDir, args });
      expect(await other.exited).toBe(1);
      const [line] = other.stderr().trimEnd().split("\n").slice(-1);
      expect(line).toContain(`already running: process ${up.pid} serves ${url} from ${place.dataDir}`);
      expect(other.stdout()).toBe("");
    }
    expect(isRunning(server)).toBe(true);
    expect((await up.request("GET", "/health")).status).toBe(200);
  });

  test("two that start at the same moment: one runs, the other is told", async () => {
    await using place = await makeUsedPlace();
    const { dataDir } = place;
    await using one = startUp({ dataDir });
    await using two = startUp({ dataDir });
    const outcome = await Promise.race([one.exited.then(() => [one, two]), two.exited.then(() => [two, one])]);
    const [ended, running] = outcome;
    expect(await ended?.exited).toBe(1);
    expect(ended?.stderr()).toContain("already running");
    await running?.ready();
    await until("health", async () => (await running?.request("GET", "/health"))?.status === 200, PATIENCE_MS);
  });
});

test("[UP-4-1] a taken port is one sentence and exit code 1, and no data is touched", async () => {
  await using place = await makePlace();
  const taken = createServer();
  const port = await new Promise<number>((resolve) =>
    taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { readonly port: number }).port)),
  );
  try {
    await using up = startUp({ dataDir: place.dataDir, args: ["--port", String(port)] });
    expect(await up.exited).toBe(1);
    expect(up.stderr()).toBe(
      `toolplane: conflict: port ${port} of 127.0.0.1 is taken by another program; stop it, or choose another port with --port\n`,
    );
    expect(existsSync(join(place.dataDir, "postgres"))).toBe(false);
  } finally {
    taken.close();
  }
});

test("[ARCH-5-13] data of another PostgreSQL version is refused with what to do", async () => {
  await using place = await makeUsedPlace();
  const { dataDir } = place;
  const file = join(dataDir, "postgres", "cluster", "PG_VERSION");
  const version = readFileSync(file, "utf8");
  writeFileSync(file, "12\n");
  await using up = startUp({ dataDir });
  expect(await up.exited).toBe(1);
  expect(up.stderr()).toContain("is of PostgreSQL 12");
  expect(up.stderr()).toContain("export it with the version that wrote it");
  writeFileSync(file, version);
});

test("a data directory with a path too long for a socket works, also after the server came back", async () => {
  await using place = await makeUsedPlace("d".repeat(80));
  await using up = startUp({ dataDir: place.dataDir, args: DEMO });
  await up.ready();
  const server = databasePid(up);
  process.kill(server, "SIGKILL");
  await up.said("the database is back");
  const { status } = await up.request("POST", "/projects/demo/calls", echo);
  expect(status).toBe(200);
  expect(findDescendants(process.pid).some(({ pid }) => pid === up.pid)).toBe(true);
  expect(await up.stop()).toBe(0);
});
