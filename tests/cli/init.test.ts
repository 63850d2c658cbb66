// `toolplane init`: the projects it makes pass their own tests, each against a throw-away plane. They run here with the packages of this
// repository, which a project of a checkout links; tests/long/packed.long.ts installs them from tarballs.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requirePython } from "../examples/programs.ts";
import { runProgram } from "./program.ts";
import { ROOT, runHere, TOOLPLANE } from "./stack.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "toolplane-init-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifestOf = (project: string): { scripts: Record<string, string>; dependencies: Record<string, string> } =>
  JSON.parse(readFileSync(join(project, "package.json"), "utf8"));

/** What `npm install` does with links, without a registry. */
const linkPackages = (project: string): void => {
  mkdirSync(join(project, "node_modules/@toolplane"), { recursive: true });
  for (const [name, wanted] of Object.entries(manifestOf(project).dependencies)) {
    const from = wanted.startsWith("file:")
      ? resolve(project, wanted.slice("file:".length))
      : join(ROOT, "node_modules", name);
    symlinkSync(from, join(project, "node_modules", name));
  }
};

const init = (...args: readonly string[]) => runHere(["init", ...args], { cwd: folder });

test("[API-2-K41] a TypeScript project whose tests pass", async () => {
  const made = await init("Word Tools");
  expect([made.code, made.err]).toEqual([0, ""]);
  expect(made.out).toContain("typescript project word-tools");
  const project = join(folder, "Word Tools");
  expect(readFileSync(join(project, "src/serve.ts"), "utf8")).toContain('target: "word-tools"');
  linkPackages(project);
  const { scripts } = manifestOf(project);
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const { code, out } = await runProgram(["sh", "-c", scripts.test ?? ""], { cwd: project, env });
  expect([code, out]).toEqual([0, expect.stringMatching(/# pass 2|pass 2/)]);
});

test("[API-2-K41] a Python project whose tests pass", async () => {
  requirePython();
  expect((await init("py", "--language", "python", "--json")).code).toBe(0);
  const project = join(folder, "py");
  expect(readdirSync(project).toSorted()).toEqual([
    ".gitignore",
    "README.md",
    "test_tools.py",
    "toolplane.py",
    "tools.py",
  ]);
  const env = { TOOLPLANE: TOOLPLANE.join(" ") };
  const { code, err } = await runProgram(["python3", "-m", "unittest"], { cwd: project, env });
  expect([code, err]).toEqual([0, expect.stringContaining("Ran 2 tests")]);
});

test("[API-2-K41] a file that is there stays, and then nothing is written; what is wrong is said in one line", async () => {
  const project = mkdtempSync(join(folder, "mine-"));
  writeFileSync(join(project, "package.json"), "{}");
  expect(await init(project)).toMatchObject({ code: 1, err: expect.stringContaining("package.json is there already") });
  expect(existsSync(join(project, "src"))).toBe(false);
  expect(await init("x", "--language", "cobol")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--language is typescript or python"),
  });
  expect(await init("x", "--packages", ".")).toMatchObject({ code: 2, err: expect.stringContaining("npm run pack") });
});
