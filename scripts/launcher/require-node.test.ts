import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isOldNode } from "./require-node.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const COMMANDS = ["toolplane", "toolplane-host"];

interface Runner {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
}

/** This Node, made to say that it is another one. */
const pretend = (version: string): Runner => {
  const code = `Object.defineProperty(process.versions, "node", { value: "${version}" });`;
  return { name: `pretended ${version}`, argv: [process.execPath, "--import", `data:text/javascript,${code}`] };
};

/** Really old Nodes on this machine, if there are any: they show that the launchers parse there. */
const findOldNodes = (): readonly Runner[] =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((directory) => join(directory, "node"))
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
    .filter((path, index, all) => all.indexOf(path) === index)
    .map((path) => ({ path, version: execFileSync(path, ["--version"], { encoding: "utf8" }).trim().slice(1) }))
    .filter(({ version }) => isOldNode(version))
    .map(({ path, version }) => ({ name: `real ${version}`, argv: [path] }));

const run = ({ argv: [file, ...args] }: Runner, command: string) =>
  spawnSync(file, [...args, join(ROOT, "bin", `${command}.mjs`)], { encoding: "utf8" });

describe("[REPO-4-1] an old Node is answered with one sentence and exit code 1", () => {
  const runners = [pretend("20.20.2"), pretend("22.17.9"), ...findOldNodes()];

  test.each(runners.flatMap((runner) => COMMANDS.map((command) => ({ ...runner, command }))))(
    "$command on $name",
    ({ command, ...runner }) => {
      const { status, stdout, stderr } = run(runner, command);
      expect(stderr).toMatch(/^\S+ needs Node 22\.18 or later and this is [\d.]+: install a newer Node, [^\n]+\.\n$/);
      expect(stderr.startsWith(`${command} needs`)).toBe(true);
      expect(stdout).toBe("");
      expect(status).toBe(1);
    },
  );
});

test.each([
  ["0.12.0", true],
  ["18.20.0", true],
  ["20.20.2", true],
  ["22.17.1", true],
  ["22.18.0", false],
  ["22.19.0", false],
  ["23.0.0", false],
  ["24.21.0", false],
  ["100.0.0", false],
])("Node %s is old: %s", (version, old) => {
  expect(isOldNode(version)).toBe(old);
});
