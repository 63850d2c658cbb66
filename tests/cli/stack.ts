// A whole stack as its users have it: `toolplane up` in a process of its own, on a free port, with data of its own; and
// `toolplane` commands against it.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { main } from "@toolplane/server/command-line";
import { askApi } from "@toolplane/testkit";
import { TOOLPLANE } from "../toolplane-argv.ts";
import { makeUsedPlace } from "../up/data.ts";
import { type Outcome, type Program, runProgram, startProgram } from "./program.ts";

export { TOOLPLANE } from "../toolplane-argv.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

export interface Stack extends AsyncDisposable {
  readonly url: string;
  /** The first token. */
  readonly token: string;
  /** An empty directory the commands run in. */
  readonly directory: string;
  readonly up: Program;
  /** Runs a command with the stack's address and token, in this process: a program for each takes most of a second to start. */
  run(args: readonly string[], options?: CommandOptions): Promise<Outcome>;
  /** The same as a program, for what only a process can show: that its streams and its exit code are right. */
  program(args: readonly string[], options?: CommandOptions): Promise<Outcome>;
  start(args: readonly string[], options?: CommandOptions): Promise<Program>;
  /** Runs a command with --json that must succeed, and gives its answer. */
  json(...args: readonly string[]): Promise<Record<string, unknown>>;
  toolToken(target: string): Promise<string>;
  /** The API itself, for tests that are about something else than commands: a program per request takes its time. */
  api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Makes a call and waits for its end, or until `waitSeconds` are over. */
  call(tool: string, args: object, waitSeconds?: number): Promise<Record<string, unknown>>;
}

const readyUrl = (out: string): string | undefined => out.match(/^ready (http:\/\/\S+)$/m)?.[1];
const tokenFile = (_: string, err: string): string | undefined => err.match(/"file":"([^"]+)"/)?.[1];

/** A command in this process, with an environment, a folder and streams of its own. */
export const runHere = async (
  args: readonly string[],
  { cwd, env = {}, stdin = "" }: CommandOptions & { readonly cwd: string },
): Promise<Outcome> => {
  let [out, err] = ["", ""];
  const code = await main(args, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env: { NO_COLOR: "1", ...env },
    cwd,
    onStop: () => () => undefined,
    exit: () => undefined,
    readStdin: async () => stdin,
  });
  return { code, out, err };
};

/** With variables of its own for `toolplane up`, such as how long a lease lasts. */
export const startStack = async (env: Readonly<Record<string, string>> = {}): Promise<Stack> => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-cli-"));
  const place = await makeUsedPlace();
  const argv = [...TOOLPLANE, "up", "--port", "0", "--demo", "--data", place.dataDir];
  const up = await startProgram(argv, { cwd: directory, env });
  const url = await up.until("ready", readyUrl);
  const token = readFileSync(await up.until("the token's file", tokenFile), "utf8").trim();
  const withServer = ({ env = {}, ...rest }: CommandOptions = {}) => ({
    cwd: directory,
    env: { TOOLPLANE_URL: url, TOOLPLANE_TOKEN: token, ...env },
    ...rest,
  });
  const run: Stack["run"] = (args, options) => runHere(args, withServer(options));
  const json: Stack["json"] = async (...args) => {
    const { code, out, err } = await run([...args, "--json"]);
    if (code !== 0 && code !== 3) throw new Error(`${args.join(" ")} ended with ${code}: ${err}`);
    return JSON.parse(out) as Record<string, unknown>;
  };
  const api: Stack["api"] = async (method, path, body) => (await askApi({ url, token }, { method, path, body })).body;
  return {
    url,
    token,
    directory,
    up,
    run,
    program: (args, options) => runProgram([...TOOLPLANE, ...args], withServer(options)),
    start: (args, options) => startProgram([...TOOLPLANE, ...args], withServer(options)),
    json,
    api,
    call: async (tool, args, waitSeconds = 60) => {
      const made = await api("POST", "/projects/demo/calls", { tool_name: tool, arguments: args });
      return api("GET", `/projects/demo/calls/${String(made.tool_call_id)}?wait_seconds=${waitSeconds}`);
    },
    toolToken: async (target) => {
      const made = await api("POST", "/tokens", { role: "tool", project_id: "demo", targets: [target] });
      return String(made.token);
    },
    [Symbol.asyncDispose]: async () => {
      await up[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
