// The bare echo: the same lines as a host's, with the least code that can exchange them. Writes of one turn leave together.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Pair, PairKind } from "./pair.ts";
import { createSplitter } from "./splitter.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHILD = fileURLToPath(new URL("./bare-child.ts", import.meta.url));

const openWith = async (name: string, argv: readonly string[]): Promise<Pair> => {
  // In a session of its own, as a supervised host is: a busy Linux shares its time between sessions.
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const waiting = new Map<string, () => void>();
  const split = createSplitter();
  let count = 0;
  let lines: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    for (const line of split(chunk)) {
      const { id } = JSON.parse(line) as { readonly id: string };
      waiting.get(id)?.();
      waiting.delete(id);
    }
  });
  const flush = (): void => {
    child.stdin.write(lines.join(""));
    lines = [];
  };
  return {
    name,
    childPid: child.pid ?? 0,
    call: (text) =>
      new Promise((resolve) => {
        count += 1;
        const id = `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`;
        waiting.set(id, resolve);
        const params = { tool_name: "echo", arguments: { text }, state: {}, deadline_ms: 30_000 };
        lines.push(`${JSON.stringify({ v: 1, id, method: "execute_tool", params })}\n`);
        if (lines.length === 1) process.nextTick(flush);
      }),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => child.once("close", resolve));
      child.stdin.end();
      await closed;
    },
  };
};

export const bareEcho: PairKind = { name: "bare echo", open: () => openWith("bare echo", [CHILD]) };

/** Our host behind the bare parent: shows which of our two sides a difference comes from. */
export const hostAlone: PairKind = {
  name: "host alone",
  open: () => openWith("host alone", [`${ROOT}bin/toolplane-host.mjs`, `${ROOT}bench/hosts/echo-plugin.ts`]),
};
