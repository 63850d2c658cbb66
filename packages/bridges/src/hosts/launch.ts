// How a host is started: an argv, its variables, its folder. No shell, and nothing is inherited by accident (SEC-9).

import { isAbsolute } from "node:path";
import { ToolplaneError, UsageError } from "@toolplane/protocol";
import type { HostOptions } from "./host.ts";
import { planSandboxArgs } from "./sandbox.ts";
import type { SandboxFiles } from "./sandbox-files.ts";

export interface Launch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly ownUser: boolean;
}

/** What every program needs: where programs, home and temporary folder are, and the language. */
const ALWAYS_PASSED = ["PATH", "HOME", "TMPDIR", "LANG"] as const;

export const planHostEnv = (
  ours: Readonly<Record<string, string | undefined>>,
  allowed: readonly string[] = [],
): Record<string, string> => {
  const env: Record<string, string> = {};
  for (const name of [...ALWAYS_PASSED, ...allowed]) {
    const value = ours[name];
    if (value !== undefined && Object.hasOwn(ours, name)) env[name] = value;
  }
  return env;
};

/**
 * Ours, and not the one on PATH: there it may be a link in a home directory that the user of the host cannot enter, as `npx` makes it, and run
 * by another Node.
 */
const HOST_PROGRAM = "toolplane-host";

export interface LaunchPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The Node that runs us. */
  readonly node: string;
  /** The program `toolplane-host` of our own packages. */
  readonly hostProgram: string;
  readonly files?: SandboxFiles;
}

export const planLaunch = (options: HostOptions, place: LaunchPlace): Launch => {
  const [program, ...args] = options.command;
  if (program === undefined || program === "") throw new UsageError(`host ${options.name}: its command is empty`);
  if (!isAbsolute(options.cwd)) throw new UsageError(`host ${options.name}: its cwd must be an absolute path`);
  const env = planHostEnv(place.env, options.env);
  const isNode = program === "node";
  const given = { env, cwd: options.cwd, ownUser: options.ownUser ?? false };
  if (options.sandbox === undefined) {
    const own = program === HOST_PROGRAM ? [place.node, place.hostProgram] : [isNode ? place.node : program];
    return { argv: [...own, ...args], ...given };
  }
  if (!isNode) {
    throw new ToolplaneError(
      "bad_request",
      `host ${options.name}: a sandbox needs a Node host; write its command as [node, FILE] or remove the sandbox`,
    );
  }
  const fence = planSandboxArgs(options.sandbox, args, options.cwd, place.files, options.closed);
  return { argv: [place.node, ...fence, ...args], ...given };
};
