// A test run that is killed leaves nothing: no server, no worker, no program of a test, however it was started.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findDescendants, until, untilGone } from "@toolplane/testkit";
import { expect, onTestFinished, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
// What the requirement allows from the death of the run to the last process.
// In practice well under 3 s; a machine with other work to do gets more patience.
const ALLOWED_MS = 60_000;
// A run inside a run, on a machine that is busy with both and more.
const PATIENCE_MS = 150_000;

const ARGUMENTS = ["run", "--config", "tests/processes/programs/killed-run.config.ts", "--root", "."];
const WAYS: Readonly<Record<string, readonly string[]>> = {
  vitest: [process.execPath, "node_modules/vitest/vitest.mjs", ...ARGUMENTS],
  npm: ["npm", "exec", "--", "vitest", ...ARGUMENTS],
};

const startRun = (argv: readonly string[], ready: string): ChildProcess => {
  const [program = "", ...args] = argv;
  // Settings of the run we are in must not reach the run inside.
  const { PATH = "", HOME = "/" } = process.env;
  return spawn(program, args, {
    cwd: ROOT,
    env: { PATH, HOME, KILLED_RUN_READY: ready },
    stdio: "ignore",
    detached: true,
  });
};

/** What a failed test must not leave either. */
const killGroup = ({ pid = 0 }: ChildProcess): void => {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Gone, as it should be.
  }
};

test.each(Object.keys(WAYS))(
  "[ARCH-8-8] SIGKILL of a test run started by %s leaves nothing",
  { timeout: 240_000 },
  async (way) => {
    const ready = join(tmpdir(), `toolplane-killed-run-${randomBytes(6).toString("hex")}`);
    const run = startRun(WAYS[way] ?? [], ready);
    onTestFinished(() => {
      killGroup(run);
      rmSync(ready, { force: true });
    });
    await until("the run to be in the middle of its test", () => existsSync(ready), PATIENCE_MS);
    const everybody = findDescendants(run.pid ?? 0);
    // The run, two guards at least, two database servers with their helpers, nats-server, a worker, a stubborn family.
    expect(everybody.length).toBeGreaterThan(20);
    run.kill("SIGKILL");
    await untilGone(everybody, ALLOWED_MS);
    expect(existsSync(`${ready}.stubborn`)).toBe(false);
  },
);
