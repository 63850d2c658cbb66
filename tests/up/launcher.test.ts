// The ways in: npm start and npx toolplane in the repository.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findDescendants, guardProgram, until, untilGone } from "@toolplane/testkit";
import { describe, expect, test, vi } from "vitest";
import { makePlace, makeUsedPlace } from "./data.ts";
import { PATIENCE_MS, startUp } from "./up-process.ts";

// Several starts of a whole stack, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const endGroup = (pid: number): void => {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // As it should be: nobody is left in it.
  }
};

describe("[UP-1-1] in the repository", () => {
  test("[UP-2-2] npm start serves the demo project, and drains when npm alone is told to end and nobody reads any more", async () => {
    await using place = await makePlace();
    const child = spawn("npm", ["start"], {
      cwd: ROOT,
      env: { ...process.env, TOOLPLANE_PORT: "0", TOOLPLANE_DATA: place.dataDir },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    await guardProgram(child, "npm start");
    let stdout = "";
    child.stderr.resume();
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    await until("ready", () => stdout.includes("ready http") || child.exitCode !== null, PATIENCE_MS);
    const url = (stdout.split("ready ")[1] ?? "").trim();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const family = findDescendants(child.pid ?? 0);
    child.stderr.destroy();
    child.kill("SIGTERM");
    const code = await exited;
    await untilGone(family, PATIENCE_MS).finally(() => endGroup(child.pid ?? 0));
    expect(code).toBe(0);
    expect(readFileSync(join(place.dataDir, "postgres", "server.log"), "utf8")).toContain("received fast shutdown");
  });

  test("npx toolplane runs the same program", async () => {
    const child = spawn("npx", ["toolplane", "--version"], { cwd: ROOT, stdio: ["ignore", "pipe", "ignore"] });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("it is one process beside its guard and its database", async () => {
    await using place = await makeUsedPlace();
    await using up = startUp({ dataDir: place.dataDir });
    await up.ready();
    expect(up.family().filter(({ ppid }) => ppid === up.pid)).toHaveLength(2);
  });
});
