// Processes that left their host: forked twice, in a session of their own, some without a variable. They end with it.

import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createToolHost, type HostOptions, type ToolHost } from "@toolplane/bridges";
import { isThere, rememberProcess, runTestProgram, until, untilGone } from "@toolplane/testkit";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

const PATIENCE_MS = 60_000;
const isRoot = process.getuid?.() === 0;

// Everybody may enter and write: as root the host runs under a user of its own.
const folder = mkdtempSync("/tmp/toolplane-escape-");
chmodSync(folder, 0o777);
const program = join(folder, "sh-host.sh");
copyFileSync(fileURLToPath(new URL("./free-programs/sh-host.sh", import.meta.url)), program);
chmodSync(program, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPidFile = (): string => join(folder, `pid-${files++}`);

type Remembered = ReturnType<typeof rememberProcess>;

/** The process that got away, once it is on its own: another session, and no parent of ours. */
const untilFree = async (pidFile: string, host: number): Promise<Remembered> => {
  await until("it to have got away", () => existsSync(pidFile), PATIENCE_MS);
  const pid = Number(readFileSync(pidFile, "utf8"));
  const row = rememberProcess(pid);
  onTestFinished(() => {
    if (isThere(row)) process.kill(pid, "SIGKILL");
  });
  expect(row).toMatchObject({ session: pid, pgid: pid });
  expect(row.ppid).not.toBe(host);
  return row;
};

const open = (change: Partial<HostOptions>, pidFile: string): ToolHost =>
  createToolHost({
    name: "free",
    command: [program, "/dev/null", pidFile],
    cwd: folder,
    ...change,
    limits: { helloMs: 20_000, startupMs: 60_000, graceMs: 100 },
  });

/** Whether a process without any variable of ours can be found depends on a user of its own, which only root can lend. */
const CASES = [
  ["with its variables", "fork", false],
  ...(isRoot ? ([["without a variable, under a user of its own", "fork_bare", true]] as const) : []),
] as const;

describe.each(CASES)("a process that got away %s", (_how, toolName, ownUser) => {
  test("[SEC-9-U4] ends when its host is closed", async () => {
    const pidFile = newPidFile();
    await using host = open({ ownUser }, pidFile);
    const { pid = 0, outcome } = await host.execute({ toolName, arguments: {}, deadlineMs: PATIENCE_MS });
    expect(outcome).toMatchObject({ status: "success" });
    const free = await untilFree(pidFile, pid);
    await host.close();
    await untilGone([free], PATIENCE_MS);
  });

  test("[SEC-9-U4] ends when the parent is killed", async () => {
    const pidFile = newPidFile();
    const args = [program, pidFile, ownUser ? "own" : "", toolName];
    const parent = runTestProgram(new URL("./free-programs/killed-parent.ts", import.meta.url), args);
    const { pids } = (await parent.next()) as { readonly pids: readonly number[] };
    const free = await untilFree(pidFile, pids[0] ?? 0);
    const hosts = pids.map(rememberProcess);
    await parent.kill("SIGKILL");
    await untilGone([free, ...hosts], PATIENCE_MS);
  });
});

test("[SEC-9-U4] a process that got away ends with the call that is out of time", async () => {
  const pidFile = newPidFile();
  await using host = open({}, pidFile);
  const { pid } = await host.start();
  const call = host.execute({ toolName: "hang", arguments: {}, deadlineMs: 2_000 });
  const free = await untilFree(pidFile, pid);
  expect((await call).outcome).toMatchObject({ status: "failed", error: { code: "tool_timeout" } });
  await untilGone([free], PATIENCE_MS);
});
