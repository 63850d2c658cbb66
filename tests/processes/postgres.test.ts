// The embedded PostgreSQL on real processes: where it runs, as whom, and what a killed one leaves.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import {
  pickRunAs,
  probePostgres,
  type RunningPostgres,
  spawnGuarded,
  startPostgres,
  tryReadProcess,
} from "@toolplane/processes";
import {
  findDebianPostgres,
  findDescendants,
  findLeftovers,
  isRunning,
  queryTestDatabase as query,
  rememberProcess as remember,
  runTestProgram,
  startTestPostgres,
  until,
  untilGone,
  withTestClient,
} from "@toolplane/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { makeDataDirectory, makeUsedDirectory } from "./data-directory.ts";
import { makePublishedCopy } from "./published-copy.ts";

const isRoot = process.getuid?.() === 0;

const clusterOf = (dataDir: string): string => join(dataDir, "postgres", "cluster");

/** Small Linux images have no ps. */
const ownerOf = (pid: number): number =>
  existsSync(`/proc/${pid}`)
    ? statSync(`/proc/${pid}`).uid
    : Number(execFileSync("ps", ["-o", "uid=", "-p", String(pid)], { encoding: "utf8" }));

afterEach(() => {
  expect(findLeftovers()).toEqual([]);
});

const notesOf = async (server: RunningPostgres): Promise<readonly unknown[]> =>
  (await query(server.url(), "select text from notes order by text")).map(({ text }) => text);

const isActive = async (server: RunningPostgres, backend: number): Promise<boolean> => {
  const text = "select 1 from pg_stat_activity where pid = $1 and state = 'active' and query like 'do %'";
  return (await query(server.url(), text, [backend])).length === 1;
};

describe("a running server", () => {
  test("[ARCH-5-1] it is the stock server npm brought, answering on a socket in a 0700 directory and on no port", async () => {
    await using directory = await makeDataDirectory();
    await using server = await startPostgres({ dataDir: directory.path });
    const [row] = await query(
      server.url(),
      "select version() as version, current_user as who, current_setting('listen_addresses') as addresses",
    );
    expect(row).toMatchObject({ who: "toolplane", addresses: "" });
    expect(row?.version).toContain(`PostgreSQL ${server.version}`);
    expect(lstatSync(server.socketDir).mode & 0o777).toBe(0o700);
    expect(() => server.loopbackUrl()).toThrow("loopback");
    expect(server.location?.data).toBeUndefined();
  });

  test("[ARCH-5-2] as root it runs under an unprivileged uid, otherwise as ourselves", async () => {
    await using server = await startTestPostgres();
    const uid = ownerOf(server.pid);
    expect(uid === 0).toBe(false);
    expect(uid === process.getuid?.()).toBe(!isRoot);
  });

  test("[ARCH-5-5] it syncs to disk unless the option that says otherwise by name is given", async () => {
    const settings = "select current_setting('fsync') as a, current_setting('full_page_writes') as b";
    await using durable = await startTestPostgres({ sync: true });
    expect(await query(durable.url(), settings)).toEqual([{ a: "on", b: "on" }]);
    await using quick = await startTestPostgres();
    expect(await query(quick.url(), settings)).toEqual([{ a: "off", b: "off" }]);
  });

  test("a start that fails after the server answers ends the server", async () => {
    // The password cannot be set on a server that only reads.
    const settings = { default_transaction_read_only: "on" };
    await expect(startTestPostgres({ loopback: true, settings })).rejects.toThrow("read-only");
    expect(findLeftovers()).toEqual([]);
  });

  test("[ARCH-5-10] a loopback port is random and asks for the password", async () => {
    await using server = await startTestPostgres({ loopback: true });
    await using other = await startTestPostgres({ loopback: true });
    expect(server.port).not.toBe(other.port);
    expect(await query(server.loopbackUrl(), "select inet_server_addr()::text as a")).toEqual([{ a: "127.0.0.1/32" }]);
    const url = new URL(server.loopbackUrl());
    url.password = "wrong";
    await expect(query(url.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
    expect(new URL(other.loopbackUrl()).password).not.toBe(new URL(server.loopbackUrl()).password);
  });

  test("[INV-I8-P1] what a statement carried does not reach the server's log", async () => {
    await using directory = await makeUsedDirectory();
    await using server = await startPostgres({ dataDir: directory.path, unsafeNoSync: true });
    await expect(query(server.url(), "select $1::int", ["hunter2"])).rejects.toThrow("hunter2");
    await expect(query(server.url(), "select hunter2")).rejects.toThrow("hunter2");
    await server.stop();
    const log = readFileSync(join(directory.path, "postgres", "server.log"), "utf8");
    expect(log).toContain("database system is shut down");
    expect(log).not.toContain("hunter2");
  });

  test("[ARCH-5-1] a data directory too deep for a socket path gets a short socket directory, removed at the end", async () => {
    await using directory = await makeDataDirectory(`${"deep-".repeat(10)}/${"deeper-".repeat(10)}`);
    const server = await startPostgres({ dataDir: directory.path, unsafeNoSync: true });
    expect(server.socketDir.startsWith(directory.path)).toBe(false);
    expect(await query(server.url(), "select 1 as one")).toEqual([{ one: 1 }]);
    await server.stop();
    expect(existsSync(server.socketDir)).toBe(false);
  });
});

test("a data directory may be given relative to where we are", async () => {
  await using directory = await makeUsedDirectory();
  const dataDir = `./${relative(process.cwd(), directory.path)}/`;
  await using server = await startPostgres({ dataDir, unsafeNoSync: true });
  expect(server.location?.data).toBeUndefined();
  expect(await query(server.url(), "select 1 as one")).toEqual([{ one: 1 }]);
  expect(probePostgres(dataDir).state).toBe("live");
});

describe("a server that was killed", () => {
  test("[ARCH-5-9] SIGKILL and start again: committed data is there, and no manual step was needed", async () => {
    await using directory = await makeDataDirectory();
    const first = await startPostgres({ dataDir: directory.path });
    await query(first.url(), "create table notes (text text)");
    await query(first.url(), "insert into notes values ('kept')");
    await first.kill();
    expect(probePostgres(directory.path).state).toBe("stale");
    await using second = await startPostgres({ dataDir: directory.path });
    expect(await notesOf(second)).toEqual(["kept"]);
  });

  test("[ARCH-5-9] a backend that is busy while its server is killed does not stop the next start", async () => {
    await using directory = await makeUsedDirectory();
    const first = await startPostgres({ dataDir: directory.path, unsafeNoSync: true });
    const busy = withTestClient(first.url(), async (client) => {
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      const backend = remember(rows[0]?.pid ?? 0);
      const spinning = client.query("do $$ begin loop end loop; end $$").catch(() => undefined);
      await until("the loop", () => isActive(first, backend.pid));
      // Only the server: the backend does not notice, it never waits for anything.
      process.kill(first.pid, "SIGKILL");
      return { backend, spinning };
    });
    await first.exited;
    await using second = await startPostgres({ dataDir: directory.path, unsafeNoSync: true });
    expect(await query(second.url(), "select 1 as one")).toEqual([{ one: 1 }]);
    const { backend, spinning } = await busy;
    await spinning;
    await untilGone([backend]);
    await first.kill();
  });

  test.each([
    ["a number that another program of the same user has now", (pid: number) => `${pid}\n`],
    ["nothing at all", () => ""],
  ])("[ARCH-5-9] postmaster.pid with %s does not stop the next start", async (_what, text) => {
    await using directory = await makeUsedDirectory();
    const first = await startPostgres({ dataDir: directory.path, unsafeNoSync: true });
    await first.stop();
    expect(probePostgres(directory.path).state).toBe("none");
    // PostgreSQL ignores a process it may not signal, so it has to be one of the server's own user.
    const other = await spawnGuarded(["sleep", "1000"], { label: "other", env: { PATH: "/bin" }, ...pickRunAs() });
    writeFileSync(join(clusterOf(directory.path), "postmaster.pid"), text(other.pid));
    writeFileSync(join(first.socketDir, ".s.PGSQL.5432.lock"), text(other.pid));
    expect(probePostgres(directory.path).state).toBe("foreign");
    const second = await startPostgres({ dataDir: directory.path, unsafeNoSync: true });
    expect(await query(second.url(), "select 1 as one")).toEqual([{ one: 1 }]);
    expect(isRunning(other.pid)).toBe(true);
    await second.stop();
    await other.end();
  });

  test("[ARCH-5-9] what a killed initdb left is cleared away, and the cluster is made anew", async () => {
    await using directory = await makeDataDirectory();
    const half = join(directory.path, "postgres", "cluster.0123456789ab");
    mkdirSync(half, { recursive: true });
    await using server = await startPostgres({ dataDir: directory.path, unsafeNoSync: true });
    expect(await query(server.url(), "select 1 as one")).toEqual([{ one: 1 }]);
    expect(existsSync(half)).toBe(false);
  });

  test("a damaged cluster is reported and never replaced by an empty one", async () => {
    await using directory = await makeUsedDirectory();
    const first = await startPostgres({ dataDir: directory.path, unsafeNoSync: true });
    await first.stop();
    rmSync(join(clusterOf(directory.path), "PG_VERSION"));
    await expect(startPostgres({ dataDir: directory.path, unsafeNoSync: true })).rejects.toMatchObject({
      code: "storage_error",
      message: expect.stringContaining("damaged"),
    });
    expect(existsSync(join(clusterOf(directory.path), "base"))).toBe(true);
  });
});

describe("a server that is alive", () => {
  test("[ARCH-5-6] it is found by a probe, refused to a second start, and not harmed by it", async () => {
    await using directory = await makeUsedDirectory();
    await using server = await startPostgres({ dataDir: directory.path, unsafeNoSync: true });
    const { state, file } = probePostgres(directory.path);
    expect({ state, pid: file?.pid, socketDir: file?.socketDir }).toEqual({
      state: "live",
      pid: server.pid,
      socketDir: server.socketDir,
    });
    await expect(
      startPostgres({ dataDir: directory.path, unsafeNoSync: true, previousTimeoutMs: 100 }),
    ).rejects.toMatchObject({
      code: "conflict",
      detail: { pid: server.pid },
    });
    expect(await query(server.url(), "select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("[ARCH-8-2] its parent is killed: it goes with it, and the next parent finds what was committed", async () => {
    await using directory = await makeDataDirectory();
    await using parent = runTestProgram(new URL("./programs/database-owner.ts", import.meta.url), [directory.path]);
    const { pid, guard } = (await parent.next()) as { pid: number; guard: number };
    const processes = [remember(pid), remember(guard), ...findDescendants(pid)];
    await parent.kill("SIGKILL");
    // Without waiting for the guard: the start waits by itself.
    await using next = await startPostgres({ dataDir: directory.path });
    expect(await notesOf(next)).toEqual(["committed"]);
    await untilGone(processes);
  });
});

describe("versions", () => {
  test("[ARCH-5-7] data of another major version is refused by name and left alone", async () => {
    await using directory = await makeDataDirectory();
    const debian = await startPostgres({ dataDir: directory.path, binaries: findDebianPostgres() });
    await debian.stop();
    await expect(startPostgres({ dataDir: directory.path })).rejects.toMatchObject({
      code: "storage_error",
      message: expect.stringContaining("PostgreSQL 15"),
    });
    await using again = await startPostgres({ dataDir: directory.path, binaries: findDebianPostgres() });
    expect(again.version.startsWith("15.")).toBe(true);
  });
});

describe("[ARCH-5-3] a checkout the server's user cannot enter", () => {
  const program = (options: string): string => `
    import { readFileSync } from "node:fs";
    import { processGuard, startPostgres } from "@toolplane/processes";
    const server = await startPostgres(${options});
    console.log(JSON.stringify({ pid: server.pid, guard: processGuard().pid, url: server.url(), location: server.location ?? null }));
    setInterval(() => undefined, 1e6);
  `;

  interface Said {
    readonly pid: number;
    readonly guard: number;
    readonly url: string;
    readonly location: { data?: string; programs?: string } | null;
  }

  test("[ARCH-5-4] programs and data go where it can reach them, and a file says where", async () => {
    await using checkout = await makeDataDirectory();
    await using moved = await makeDataDirectory();
    chmodSync(checkout.path, 0o700);
    const dataDir = join(checkout.path, ".toolplane");
    const options = JSON.stringify({ dataDir, movedRoot: moved.path });
    await using parent = runTestProgram(makePublishedCopy(checkout.path, program(options)));
    const said = (await parent.next()) as Said;
    const processes = [remember(said.pid), remember(said.guard), ...findDescendants(said.pid)];
    await query(said.url, "create table notes (text text)");
    await query(said.url, "insert into notes values ('kept')");
    expect(ownerOf(said.pid) === 0).toBe(false);
    if (isRoot) {
      expect(said.location?.data?.startsWith(moved.path)).toBe(true);
      // The copy of the programs is not one data directory's own.
      expect(said.location?.programs).toMatch(new RegExp(`^${moved.path}/programs-[^/]+/native$`));
      expect(JSON.parse(readFileSync(join(dataDir, "location"), "utf8"))).toMatchObject(said.location ?? {});
    } else {
      expect(said.location).toBeNull();
    }
    expect(probePostgres(dataDir)).toMatchObject({ state: "live", file: { pid: said.pid } });
    await parent.kill("SIGKILL");
    await untilGone(processes);
    // Opened up later, the data still is where the file says.
    chmodSync(checkout.path, 0o755);
    const old = join(moved.path, "0123456789abcdef", "programs-18.4-x64");
    mkdirSync(join(old, "native", "bin"), { recursive: true });
    writeFileSync(join(old, "native", "bin", "postgres"), "");
    await using next = await startPostgres({ dataDir, movedRoot: moved.path });
    expect(await notesOf(next)).toEqual(["kept"]);
    // Who has moved there removes what earlier versions left.
    const tidy = isRoot && process.platform === "linux";
    await until("the old copy to go", () => existsSync(old) === !tidy);
  });

  test("[ARCH-5-3] a throw-away server starts from there without leaving anything in the system's directories", async () => {
    await using checkout = await makeDataDirectory();
    await using data = await makeDataDirectory();
    chmodSync(checkout.path, 0o700);
    const options = JSON.stringify({ dataDir: data.path, unsafeNoSync: true, movedRoot: join(data.path, "moved") });
    await using parent = runTestProgram(makePublishedCopy(checkout.path, program(options)));
    const said = (await parent.next()) as Said;
    const processes = [remember(said.pid), remember(said.guard), ...findDescendants(said.pid)];
    expect(await query(said.url, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(existsSync(join(data.path, "moved"))).toBe(false);
    await parent.kill("SIGKILL");
    await untilGone(processes);
    expect(tryReadProcess(said.pid)?.zombie ?? true).toBe(true);
  });
});
