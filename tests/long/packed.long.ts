// What a user installs, from tarballs, in an empty folder: the plane runs, and the project that `toolplane init` makes passes its test.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram, startProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";

let folder: string;
/** Building, packing and installing everything, on a machine that does other work too. */
const PATIENCE_MS = 600_000;
const npm = (cwd: string, ...argv: readonly string[]): string =>
  execFileSync("npm", [...argv, "--no-fund", "--no-audit", "--loglevel=error"], { cwd, encoding: "utf8" });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "toolplane-packed-"));
  execFileSync(process.execPath, ["scripts/pack.ts", join(folder, "tarballs")], { cwd: ROOT, stdio: "inherit" });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  execFileSync("sh", ["-c", "npm install ./tarballs/*.tgz --no-fund --no-audit --loglevel=error"], { cwd: folder });
}, PATIENCE_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("[REPO-pack] npx toolplane up runs from the tarballs, and a command beside it finds it on any port", async () => {
  await using up = await startProgram(["npx", "toolplane", "up", "--port", "0", "--demo"], { cwd: folder });
  await up.until("ready", (out) => (out.includes("ready http://") ? true : undefined));
  const called = await runProgram(["npx", "toolplane", "call", "echo", '{"text": "packed"}'], { cwd: folder });
  expect(called).toMatchObject({ code: 0, out: expect.stringContaining("packed") });
});

test("[REPO-pack] [API-2-K41] a project of toolplane init installs from the tarballs and passes its test", {
  timeout: PATIENCE_MS,
}, async () => {
  const made = await runProgram(["npx", "toolplane", "init", "words", "--packages", "tarballs"], { cwd: folder });
  expect([made.code, made.err]).toEqual([0, ""]);
  const project = join(folder, "words");
  npm(project, "install");
  expect(npm(project, "test")).toMatch(/pass 2/);
});
