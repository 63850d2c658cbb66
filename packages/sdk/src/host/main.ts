// The program behind `toolplane-host MODULE`.

import { parseArgs } from "node:util";
import { UsageError } from "@toolplane/protocol";
import { serveProcess, takeProcess, writeStderr } from "./host-process.ts";
import type { HostDescriptors } from "./host-stdio.ts";
import { loadPlugin } from "./load-plugin.ts";
import type { HostPlugin } from "./plugin.ts";

const USAGE = `usage: toolplane-host [--drain-seconds N] MODULE

Runs a JavaScript or TypeScript module as a tool host: requests on stdin, answers on stdout, one JSON object per line.
`;

interface Arguments {
  readonly module: string;
  readonly drainMs: number | undefined;
}

const readArguments = (argv: readonly string[]): Arguments | "help" | undefined => {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { "drain-seconds": { type: "string" }, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
    if (values.help === true) return "help";
    const seconds = values["drain-seconds"];
    const drainMs = seconds === undefined ? undefined : Number(seconds) * 1000;
    const [module] = positionals;
    if (module === undefined || positionals.length > 1 || (drainMs !== undefined && !(drainMs >= 0))) return undefined;
    return { module, drainMs };
  } catch {
    return undefined;
  }
};

const explain = (error: unknown): string => {
  if (error instanceof UsageError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};

const load = async (module: string): Promise<HostPlugin | undefined> => {
  try {
    return await loadPlugin(module, process.cwd());
  } catch (error) {
    writeStderr(`toolplane-host cannot load ${module}: ${explain(error)}\n`);
    return undefined;
  }
};

/** Ends the process by itself. */
export const main = async (argv: readonly string[], moved: HostDescriptors | undefined): Promise<never> => {
  const given = readArguments(argv);
  if (given === undefined || given === "help") {
    writeStderr(USAGE);
    return process.exit(given === "help" ? 0 : 2);
  }
  const taken = takeProcess(moved);
  const plugin = await load(given.module);
  return plugin === undefined ? taken.exit(1) : serveProcess(plugin, taken, given.drainMs);
};
