// The two hosts of the project, to be held against the same expectations, and ways to talk to them.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { requirePython } from "../examples/programs.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HERE = fileURLToPath(new URL(".", import.meta.url));

export interface ChildHost {
  readonly name: string;
  /** The argv that serves a module given without its ending. */
  readonly argv: (module: string, ...options: string[]) => readonly [string, ...string[]];
}

const NODE_HOST = `${ROOT}bin/toolplane-host.mjs`;

export const nodeHost: ChildHost = {
  name: "toolplane-host",
  argv: (module, ...options) => [process.execPath, NODE_HOST, ...options, `${HERE}${module}.ts`],
};

/** As the sandbox of a supervisor runs it: no child processes, so the host cannot move its descriptors. */
export const sandboxedHost: ChildHost = {
  name: "toolplane-host in a sandbox",
  argv: (module, ...options) => [
    process.execPath,
    "--permission",
    "--allow-fs-read=*",
    NODE_HOST,
    ...options,
    `${HERE}${module}.ts`,
  ],
};

export const pythonHost: ChildHost = {
  name: "toolplane_host.py",
  argv: (module, ...options) => ["python3", `${ROOT}hosts/python/toolplane_host.py`, ...options, `${HERE}${module}.py`],
};

requirePython();

export const HOSTS: readonly ChildHost[] = [nodeHost, pythonHost];

export interface Answer {
  readonly v: 1;
  readonly id: string | null;
  readonly ok?: boolean;
  readonly result?: { readonly value: unknown; readonly state?: unknown };
  readonly error?: { readonly type: string; readonly detail: string; readonly stack?: string };
  readonly event?: { readonly type: string; readonly payload: unknown };
}

export interface Transcript {
  readonly lines: readonly Answer[];
  readonly stderr: string;
  readonly code: number | null;
}

/** Literally `printf ... | host`: what a person would do by hand. The text goes through printf's own escapes. */
export const printInto = (argv: readonly string[], text: string): Transcript => {
  const script = 'text=$1; shift; printf "$text" | "$@"';
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", script, "sh", text, ...argv], {
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    timeout: 60_000,
  });
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { lines: lines.map((line) => JSON.parse(line) as Answer), stderr, code: status };
};

/** For printf: what it would take for itself is doubled. */
export const quoteForPrintf = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("%", "%%");
