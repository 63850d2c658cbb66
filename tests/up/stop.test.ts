// Stopping: what is under way ends or is given back, and nothing is left behind.

import { existsSync } from "node:fs";
import { isRunning, until, untilGone } from "@toolplane/testkit";
import { describe, expect, test, vi } from "vitest";
import { makePlace, makeUsedPlace } from "./data.ts";
import { databasePid, PATIENCE_MS, startUp, type UpProcess } from "./up-process.ts";

// Several starts of a whole stack, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

const DEMO = ["--demo"];

const makeSleep = async (up: UpProcess, seconds: number): Promise<string> => {
  const call = { tool_name: "sleep", arguments: { seconds }, wait_seconds: 0 };
  return (await up.request("POST", "/projects/demo/calls", call)).body.tool_call_id as string;
};

const startSleep = async (up: UpProcess, seconds: number): Promise<string> => {
  const id = await makeSleep(up, seconds);
  await until("the call to run", async () => (await statusOf(up, id)) === "running", PATIENCE_MS);
  return id;
};

const statusOf = async (up: UpProcess, id: string): Promise<string> =>
  (await up.request("GET", `/projects/demo/calls/${id}`)).body.status;

describe("[API-2-2] SIGTERM drains and exits 0", () => {
  test("a call that ends in time settles, a longer one is given back and runs after the next start", async () => {
    await using place = await makeUsedPlace();
    const { dataDir } = place;
    let short: string;
    let long: string;
    {
      await using up = startUp({ dataDir, args: DEMO });
      long = await startSleep(up, 600);
      const family = up.family();
      // A long poll is answered at once instead of holding up the end.
      const poll = up.request("POST", "/projects/demo/tool-services/nobody/claim", { wait_seconds: 60 });
      const wait = up.request("POST", "/projects/demo/calls", {
        tool_name: "sleep",
        arguments: { seconds: 600 },
        idempotency_key: "waited for",
        wait_seconds: 300,
      });
      await until(
        "the second long call to run",
        async () => (await up.request("GET", "/projects/demo/calls?status=running")).body.items.length === 2,
        PATIENCE_MS,
      );
      // Last, so that it still runs: on a busy machine it may be over before the signal, which changes nothing below.
      short = await makeSleep(up, 2);
      await until("the short call to begin", async () => (await statusOf(up, short)) !== "queued", PATIENCE_MS);
      expect(await up.stop()).toBe(0);
      expect((await poll).body).toEqual({ commands: [] });
      expect((await wait).status).toBe(202);
      await untilGone(family, PATIENCE_MS);
    }
    await using up = startUp({ dataDir, args: DEMO });
    expect(await statusOf(up, short)).toBe("success");
    await until("the long call to run again", async () => (await statusOf(up, long)) === "running", PATIENCE_MS);
    expect((await up.request("POST", `/projects/demo/calls/${long}/cancel`, {})).status).toBe(200);
    expect(await statusOf(up, long)).toBe("canceled");
  });

  test("[UP-2-2] a terminal that closes says SIGHUP, more than once: the same, and while it drains it takes no connections", async () => {
    await using place = await makeUsedPlace();
    await using up = startUp({ dataDir: place.dataDir, args: DEMO });
    await startSleep(up, 600);
    const url = await up.ready();
    up.signal("SIGHUP");
    await up.said('"stopping"');
    up.signal("SIGHUP");
    const refused = async (): Promise<boolean> =>
      fetch(`${url}/live`).then(
        () => false,
        () => true,
      );
    await until("new connections to be refused", refused, PATIENCE_MS);
    expect(await up.exited).toBe(0);
  });

  test("SIGINT does the same, also before it is ready", async () => {
    await using place = await makePlace();
    await using up = startUp({ dataDir: place.dataDir });
    await up.said('"starting"');
    up.signal("SIGINT");
    expect(await up.exited).toBe(0);
    expect(up.stdout()).toBe("");
    expect(up.family()).toEqual([]);
  });
});

test("[UP-2-1] a second signal exits at once, and the guard ends what is left", async () => {
  await using place = await makeUsedPlace();
  await using up = startUp({ dataDir: place.dataDir, args: DEMO });
  await startSleep(up, 600);
  const family = up.family();
  const server = databasePid(up);
  up.signal("SIGTERM");
  await up.said('"stopping"');
  up.signal("SIGTERM");
  expect(await up.exited).toBe(1);
  expect(up.stderr()).not.toContain('"stopped"');
  await untilGone(family, PATIENCE_MS);
  expect(isRunning(server)).toBe(false);
});

describe("[API-2-3] --ephemeral leaves nothing behind", () => {
  const dataOf = (up: UpProcess): string =>
    (
      JSON.parse(
        up
          .stderr()
          .split("\n")
          .find((line) => line.includes('"starting"')) ?? "{}",
      ) as { data: string }
    ).data;

  test.each(["SIGTERM", "SIGKILL"] as const)("after %s", async (signal) => {
    await using place = await makePlace();
    await using up = startUp({ dataDir: place.dataDir, args: ["--ephemeral", "--demo"] });
    const url = await up.ready();
    const dataDir = dataOf(up);
    expect(dataDir).not.toBe(place.dataDir);
    expect(existsSync(dataDir)).toBe(true);
    expect(existsSync(place.dataDir)).toBe(false);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    up.signal(signal);
    await up.exited;
    await until("the directory to be removed", () => !existsSync(dataDir), PATIENCE_MS);
  });
});
