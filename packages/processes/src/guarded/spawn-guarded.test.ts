// Real children: what they get, how they are ended, what is left.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { createGuard, processGuard } from "../guard/guard.ts";
import { readProcessTable, tryReadProcess } from "../table/process-table.ts";
import { type GuardedOptions, type GuardedProcess, spawnGuarded } from "./spawn-guarded.ts";

const BASE = { label: "test child", env: { PATH: "/usr/bin:/bin" } } as const;
const PIPES: ("pipe" | "inherit")[] = ["pipe", "pipe", "inherit"];

const outputOf = async (argv: readonly string[], options: Partial<GuardedOptions> = {}): Promise<string> => {
  const started = await spawnGuarded(argv, { ...BASE, stdio: ["ignore", "pipe", "inherit"], ...options });
  const output = started.child.stdout === null ? "" : await text(started.child.stdout);
  expect(await started.ended).toEqual({ code: 0, signal: null });
  return output;
};

const firstLine = (started: GuardedProcess): Promise<string> =>
  new Promise((resolve) =>
    started.child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString("utf8").trim())),
  );

afterEach(() => {
  const ours = [...readProcessTable().values()].filter(({ ppid, zombie }) => ppid === process.pid && !zombie);
  expect(ours.filter(({ pid }) => pid !== processGuard().pid)).toEqual([]);
});

describe("what a child gets", () => {
  test("[ARCH-8-5] its arguments, byte for byte, whatever a shell would make of them", async () => {
    const nasty = ["$HOME", "`id`", "a b", "'\"\\", "*", "-n", "", "é\n", "--"];
    expect(
      await outputOf([process.execPath, "-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--", ...nasty]),
    ).toBe(`${JSON.stringify(nasty)}\n`);
  });

  test.each([
    [{ A: "1", PATH: "/usr/bin:/bin" }],
    [{ PWD: "/somewhere", SHLVL: "7", PATH: "/bin" }],
    [{ ONLY: "x\ny" }],
  ])("[ARCH-8-6] exactly the environment it was given: %j", async (env) => {
    const printed = await outputOf([process.execPath, "-e", "console.log(JSON.stringify(process.env))"], { env });
    // bash keeps writing the name of the command to `_`, and a version of its own to SHLVL.
    const { _: _command, TOOLPLANE_MARK: mark, ...got } = JSON.parse(printed) as Record<string, string>;
    expect(mark).toHaveLength(32);
    expect(Object.keys(got).sort()).toEqual(Object.keys(env).sort());
    for (const name of Object.keys(env).filter((key) => !["PWD", "SHLVL"].includes(key))) {
      expect(got[name]).toBe(env[name as keyof typeof env]);
    }
  });

  test("its working directory, and none of the gate's descriptors", async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "toolplane-cwd-")));
    const code = `
      const open = [3, 4, 5].filter((fd) => { try { require("fs").fstatSync(fd); return true; } catch { return false; } });
      console.log(process.cwd(), process.stdin.constructor.name, open.some((fd) => require("fs").fstatSync(fd).isSocket()));`;
    expect((await outputOf([process.execPath, "-e", code], { cwd: directory })).split(" ")[0]).toBe(directory);
    expect((await outputOf([process.execPath, "-e", code], { cwd: directory })).trim().endsWith("false")).toBe(true);
    rmSync(directory, { recursive: true });
  });

  test("its streams, further ones included", async () => {
    const started = await spawnGuarded(["sh", "-c", "cat; cat <&3"], { ...BASE, stdio: [...PIPES, "pipe"] });
    started.child.stdin?.end("from stdin, ");
    (started.child.stdio[3] as unknown as { end(data: string): void }).end("from the fourth");
    expect(started.child.stdout === null ? "" : await text(started.child.stdout)).toBe("from stdin, from the fourth");
    await started.ended;
  });

  test("[ARCH-8-7] a process group of its own", async () => {
    const started = await spawnGuarded(["sleep", "1000"], BASE);
    expect(tryReadProcess(started.pid)?.pgid).toBe(started.pid);
    await started.end();
  });

  test("another user, when we may lend one; otherwise a plain refusal", async () => {
    const daemon = { uid: 1, gid: 1 };
    if (process.getuid?.() === 0) expect(await outputOf(["id", "-u"], daemon)).toBe("1\n");
    else await expect(outputOf(["id", "-u"], daemon)).rejects.toMatchObject({ code: "upstream_unavailable" });
  });
});

describe("how it ends", () => {
  test.each<[string, { code: number | null; signal: string | null }]>([
    ["exit 0", { code: 0, signal: null }],
    ["exit 7", { code: 7, signal: null }],
    ["kill -9 $$", { code: null, signal: "SIGKILL" }],
  ])("%s", async (script, expected) => {
    const started = await spawnGuarded(["sh", "-c", script], BASE);
    expect(await started.exited).toEqual(expected);
    expect(await started.ended).toEqual(expected);
  });

  test("[ARCH-8-7] kill reaches the whole group", async () => {
    const started = await spawnGuarded(["sh", "-c", "sleep 1000 & echo $!; wait"], { ...BASE, stdio: PIPES });
    const grandchild = Number(await firstLine(started));
    expect(started.kill("SIGKILL")).toBe(true);
    await started.ended;
    expect(tryReadProcess(grandchild)?.zombie ?? true).toBe(true);
    expect(started.kill("SIGKILL")).toBe(false);
  });

  test("end is polite first: a child that listens to the signal ends by itself", async () => {
    const script = "trap 'exit 3' USR1; echo ready; while :; do sleep 0.01; done";
    const started = await spawnGuarded(["sh", "-c", script], { ...BASE, stdio: ["ignore", "pipe", "ignore"] });
    await firstLine(started);
    expect(await started.end({ signal: "SIGUSR1", graceMs: 5000 })).toEqual({ code: 3, signal: null });
  });

  test("end is final: who ignores the signal, and who left the group, goes by SIGKILL", async () => {
    const code = `process.on("SIGTERM", () => undefined);
      const far = require("child_process").spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
      console.log(far.pid); setInterval(() => undefined, 1e6);`;
    const started = await spawnGuarded([process.execPath, "-e", code], { ...BASE, stdio: PIPES });
    const far = Number(await firstLine(started));
    expect(await started.end({ graceMs: 50 })).toEqual({ code: null, signal: "SIGKILL" });
    expect(tryReadProcess(far)?.zombie ?? true).toBe(true);
  });

  test("SG2: what is left of the group when its leader exits is ended too", async () => {
    const started = await spawnGuarded(["sh", "-c", "sleep 1000 & echo $!"], { ...BASE, stdio: PIPES });
    const left = Number(await firstLine(started));
    expect(await started.ended).toEqual({ code: 0, signal: null });
    expect(tryReadProcess(left)?.zombie ?? true).toBe(true);
  });
});

describe("what is refused", () => {
  test.each([
    ["a program that is not there", ["no-such-program"], "not_found"],
    ["a path that is not there", ["/no/such/program"], "not_found"],
  ])("%s", async (_what, argv, code) => {
    await expect(spawnGuarded(argv, BASE)).rejects.toMatchObject({ code });
  });

  test("no command, and more descriptors than the gate can lie beyond", async () => {
    await expect(spawnGuarded([], BASE)).rejects.toThrow("no command");
    await expect(spawnGuarded(["true"], { ...BASE, stdio: Array(10).fill("ignore") })).rejects.toThrow("descriptors");
  });

  test("a working directory that is not there", async () => {
    await expect(spawnGuarded(["/bin/sh"], { ...BASE, cwd: "/no/such/directory" })).rejects.toMatchObject({
      code: "upstream_unavailable",
    });
  });

  test("[ARCH-8-4] a guard that cannot watch: the program is not run", async () => {
    const directory = mkdtempSync(join(tmpdir(), "toolplane-refused-"));
    const guard = createGuard();
    await guard.close();
    await expect(spawnGuarded(["rmdir", directory], { ...BASE, guard })).rejects.toThrow("closed");
    rmSync(directory, { recursive: true });
  });
});
