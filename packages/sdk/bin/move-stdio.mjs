// Moves the protocol away from stdin and stdout before any plugin code runs. Node cannot duplicate a descriptor, a shell can:
// this process is replaced by a shell that moves the two and is replaced by Node again. Same process id, no process between
// the parent and the host, and nothing the plugin, its native code or its children write to descriptor 1 can reach the parent:
// it is stderr. What they read from stdin is empty.

import { existsSync } from "node:fs";

const SHELL = "/bin/sh";
const MOVED = "--moved-stdio";
const SCRIPT = 'exec "$@" 3>&1 4<&0 1>&2 0</dev/null';

/** A sandbox without child processes forbids it, some systems do not have it; then the host guards stdout by itself. */
const findReplace = () => {
  const allowed = process.permission === undefined || process.permission.has("child");
  return allowed && existsSync(SHELL) ? process.execve : undefined;
};

/**
 * Returns the arguments that are left and where the protocol is; does not return when this process was replaced.
 * @param {string} program
 * @param {readonly string[]} argv
 */
export const moveStdio = (program, argv) => {
  if (argv[0] === MOVED) return { argv: argv.slice(1), moved: { input: 4, output: 3 } };
  const node = [process.execPath, ...process.execArgv, program, MOVED, ...argv];
  findReplace()?.(SHELL, ["sh", "-c", SCRIPT, "sh", ...node], process.env);
  return { argv, moved: undefined };
};
