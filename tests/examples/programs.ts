// The programs of other languages that tests run. A machine without one of them fails these tests with a sentence; nothing is
// skipped in silence.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ToolplaneError } from "@toolplane/protocol";
import { type Program, startProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";

const requireProgram = (program: string, args: readonly string[], advice: string): void => {
  try {
    execFileSync(program, args, { stdio: "ignore" });
  } catch (cause) {
    throw new ToolplaneError("not_found", `these tests run ${program}, and it is not there: ${advice}`, { cause });
  }
};

export const requirePython = (): void =>
  requireProgram(
    "python3",
    ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"],
    "install Python 3.9 or later (apt-get install python3, brew install python)",
  );

export const requireCurl = (): void =>
  requireProgram("curl", ["--version"], "install curl (apt-get install curl, brew install curl)");

export interface ServiceOptions {
  readonly url: string;
  readonly token: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What it says when it is ready. */
  readonly ready?: string;
}

const start = async (argv: readonly string[], options: ServiceOptions): Promise<Program> => {
  const program = await startProgram(argv, {
    cwd: ROOT,
    env: { TOOLPLANE_URL: options.url, TOOLPLANE_TOKEN: options.token, ...options.env },
  });
  const ready = options.ready ?? "serving ";
  await program.until(ready, (_, err) => (err.includes(ready) ? true : undefined));
  return program;
};

/** A Python file with hosts/python/toolplane.py on its path. */
export const startPython = (file: string, { env = {}, ...options }: ServiceOptions): Promise<Program> =>
  start(["python3", join(ROOT, file)], { ...options, env: { PYTHONPATH: join(ROOT, "hosts/python"), ...env } });

export const startShell = (file: string, options: ServiceOptions): Promise<Program> =>
  start(["sh", join(ROOT, file)], options);

/** A TypeScript file, as development runs it. */
export const startNode = (file: string, options: ServiceOptions): Promise<Program> =>
  start([process.execPath, "--conditions=source", join(ROOT, file)], options);
