// A server from outside the repository for one contestant: a directory of its own, started under the guard, ready when its
// port answers.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ToolplaneError } from "@toolplane/protocol";
import { launch } from "../program.ts";

export interface LoopbackServer extends AsyncDisposable {
  readonly pid: number;
  readonly directory: string;
}

const READY_MS = 60_000;
const POLL_MS = 20;

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const done = (value: boolean): void => {
      socket.destroy();
      resolve(value);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });

export interface LoopbackOptions {
  readonly label: string;
  readonly port: number;
  readonly argv: (directory: string) => readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export const startLoopbackServer = async ({ label, port, argv, env }: LoopbackOptions): Promise<LoopbackServer> => {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), "toolplane-bench-"));
  chmodSync(directory, 0o700);
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const { process: server } = await launch({ label, argv: argv(directory), env, cwd: directory });
  stack.defer(async () => void (await server.end()));
  const deadline = performance.now() + READY_MS;
  while (!(await answers(port))) {
    if (performance.now() > deadline) throw new ToolplaneError("upstream_unavailable", `${label} did not start`);
    await delay(POLL_MS);
  }
  const owned = stack.move();
  return { pid: server.pid, directory, [Symbol.asyncDispose]: () => owned.disposeAsync() };
};
