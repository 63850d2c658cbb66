// The gate: a guarded child waits behind it until the guard knows the child.
// Between the start of the child and the guard's confirmation the parent may be killed, and then nothing would end the child. So
// the child starts as a shell that only waits for one line on an extra pipe, whose other end only the parent holds. The parent
// sends the line after the confirmation; then the shell becomes the program (same process number, same start time, same group).
// If the parent dies first, the pipe ends and the shell exits without having run anything.
// No part of the command is shell text: it is passed as arguments ("$@").

import type { ChildProcess, StdioOptions } from "node:child_process";

export type StdioList = Extract<StdioOptions, readonly unknown[]>;

// Variables that shells set or change by themselves. The child gets exactly what the caller gave.
const SHELL_VARIABLES = ["PWD", "OLDPWD", "SHLVL", "_"] as const;

// Only descriptors of one digit can be named in every shell's redirections.
export const GATE_LIMIT = 9;

const isShellName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

/** The variables that can pass through a shell; some shells drop the others, so we always do. */
export const passableEnv = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => isShellName(name)));

export const planStdio = (stdio: StdioOptions | undefined): StdioList => {
  if (stdio === undefined) return ["ignore", "ignore", "ignore"];
  if (typeof stdio === "string") return [stdio, stdio, stdio];
  const [input = "pipe", output = "pipe", error = "pipe", ...more] = stdio;
  return [input, output, error, ...more];
};

/** The shell's arguments: wait at descriptor `gate`, then become `argv`. */
export const planGatedArgs = (
  argv: readonly string[],
  gate: number,
  env: Readonly<Record<string, string>>,
): readonly string[] => {
  const made = SHELL_VARIABLES.filter((name) => !Object.hasOwn(env, name)).join(" ");
  const script =
    `IFS= read -r TOOLPLANE_GATE <&${gate} || exit 125; ` +
    `unset TOOLPLANE_GATE ${made} 2>/dev/null; exec "$@" ${gate}<&-`;
  return ["-c", script, "sh", ...argv];
};

interface GatePipe {
  on(event: "error", listener: () => void): unknown;
  end(text?: string): unknown;
  destroy(): unknown;
}

const gatePipe = (child: ChildProcess, gate: number): GatePipe | undefined => {
  const pipe = child.stdio[gate] as GatePipe | null | undefined;
  // The child may be gone; its exit is reported elsewhere.
  pipe?.on("error", () => undefined);
  return pipe ?? undefined;
};

export const openGate = (child: ChildProcess, gate: number): void => {
  gatePipe(child, gate)?.end("go\n");
};

/** The child exits without having run anything. */
export const shutGate = (child: ChildProcess, gate: number): void => {
  gatePipe(child, gate)?.destroy();
};
