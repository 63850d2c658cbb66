// The README's tour, word for word: its own commands, in order, against a fresh stack, and what it shows against what they
// said. `npm ci` is left out of `npm ci && npm start`: it would replace the very packages the tests run on. `npx` is a program that
// finds the same programs and takes a tenth of the time; tests/up/launcher.test.ts is about the real one.

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findFreePort } from "@toolplane/processes";
import { expect, onTestFinished, test } from "vitest";
import { type Program, runProgram, startProgram } from "../cli/program.ts";
import { ROOT, TOOLPLANE } from "../cli/stack.ts";
import { type Block, matchesShown, readBlocks, sectionOf } from "./readme.ts";

const TOUR = "A tour, in a minute";
const INSTALL = "npm ci && ";
/** Beside other tests the server is killed later than by a person: the call it is killed in has to last longer. */
const lasting = (block: Block): Block => ({
  ...block,
  text: block.text.replace(/seconds": ?12/g, (said) => said.replace("12", "25")),
});

const QUICK_NPX = `#!/bin/sh
program=$1
shift
if [ "$program" = toolplane ]; then exec ${TOOLPLANE.map((word) => `'${word}'`).join(" ")} "$@"; fi
exec "$PWD/node_modules/.bin/$program" "$@"
`;

/** A directory to be found before those of PATH. */
const makeQuickNpx = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-npx-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "npx"), QUICK_NPX, { mode: 0o755 });
  return directory;
};

/** A checkout of its own, so that its data is fresh: everything in it is the repository's, by links. */
const makeCheckout = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-tour-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  // As root the database runs as another user, who must be able to pass.
  chmodSync(directory, 0o755);
  for (const name of readdirSync(ROOT))
    if (name !== ".git" && name !== ".toolplane") symlinkSync(join(ROOT, name), join(directory, name));
  return directory;
};

const linesOf = (text: string): readonly string[] =>
  text.split("\n").filter((line) => line !== "" && !line.startsWith("npm warn"));

/** Commands of a block, in one shell; what they say on both streams, as a person sees it. */
const runBlock = async (block: Block, options: Parameters<typeof runProgram>[1]): Promise<readonly string[]> => {
  const { out } = await runProgram(["sh", "-c", `exec 2>&1\n${block.text}\n`], options);
  return linesOf(out);
};

test("[API-1-K2] the README's tour runs as it is written, and shows what it says", { timeout: 300_000 }, async () => {
  const cwd = makeCheckout();
  const port = String(await findFreePort());
  const env = {
    PATH: `${makeQuickNpx()}${delimiter}${process.env.PATH}`,
    TOOLPLANE_PORT: port,
    TOOLPLANE_URL: `http://127.0.0.1:${port}`,
    // A call of a killed service is offered again after a lease: a person waits for the default, a test need not.
    TOOLPLANE_LEASE_SECONDS: "5",
    npm_config_update_notifier: "false",
  };
  const blocks = readBlocks(sectionOf(readFileSync(join(ROOT, "README.md"), "utf8"), TOUR)).map(lasting);
  const running: Program[] = [];
  onTestFinished(async () => {
    for (const program of running.toReversed()) await program[Symbol.asyncDispose]();
  });
  const start = async (command: string, ready: string): Promise<readonly string[]> => {
    const program = await startProgram(["sh", "-c", command], { cwd, env });
    running.push(program);
    const heard = (out: string, err: string): string | undefined =>
      (out + err).split("\n").find((line) => line.includes(ready));
    return [await program.until(ready, heard)];
  };

  let said: readonly string[] = [];
  let commands = 0;
  for (const block of blocks) {
    commands += block.kind.startsWith("sh") ? block.text.split("\n").length : 0;
    if (block.kind === "sh stack") said = await start(block.text.replace(INSTALL, ""), "ready http://");
    else if (block.kind === "sh service") said = await start(block.text, "serving");
    else if (block.kind === "sh") said = await runBlock(block, { cwd, env });
    else if (block.kind === "text") {
      const shown = block.text.split("\n");
      expect(matchesShown(shown, said), `the README shows\n${block.text}\nand it said\n${said.join("\n")}`).toBe(true);
    } else expect(block.kind).toBe("ts");
  }
  expect(commands).toBe(14);
});
