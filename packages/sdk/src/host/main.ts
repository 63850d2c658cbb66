// The program behind `toolplane-host MODULE`.

import { parseArgs } from "node:util";
import { UsageError } from "@toolplane/protocol";
import { systemClock } from "../ports/clock.ts";
import { divertStdout, type HostDescriptors, openInput, openOutput } from "./host-stdio.ts";
import { loadPlugin } from "./load-plugin.ts";
import type { HostPlugin } from "./plugin.ts";
import { serveHost } from "./serve-host.ts";

const USAGE = "usage: toolplane-host [--drain-seconds N] MODULE\n";

const STANDARD: HostDescriptors = { input: 0, output: 1 };

interface Arguments {
  readonly module: string;
  readonly drainMs: number | undefined;
}

const readArguments = (argv: readonly string[]): Arguments | undefined => {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { "drain-seconds": { type: "string" } },
      allowPositionals: true,
    });
    const seconds = values["drain-seconds"];
    const drainMs = seconds === undefined ? undefined : Number(seconds) * 1000;
    const [module] = positionals;
    if (module === undefined || positionals.length > 1 || (drainMs !== undefined && !(drainMs >= 0))) return undefined;
    return { module, drainMs };
  } catch {
    return undefined;
  }
};

const stderr = (text: string): void => {
  process.stderr.write(text);
};

/** A library that ends the process when it is displeased would end every other call with it. */
const refuseExit = (): never => {
  throw new UsageError("a tool must not end its host: process.exit was refused");
};

const load = async (module: string): Promise<HostPlugin | undefined> => {
  try {
    return await loadPlugin(module, process.cwd());
  } catch (error) {
    const why =
      error instanceof UsageError
        ? error.message
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error);
    stderr(`toolplane-host cannot load ${module}: ${why}\n`);
    return undefined;
  }
};

/** Ends the process by itself; nothing that plugin code left open may keep it. */
export const main = async (argv: readonly string[], moved: HostDescriptors | undefined): Promise<never> => {
  const exit = process.exit.bind(process);
  const given = readArguments(argv);
  if (given === undefined) {
    stderr(USAGE);
    return exit(2);
  }
  const { input, output } = moved ?? STANDARD;
  const out = openOutput(output);
  if (moved === undefined) divertStdout();
  process.exit = refuseExit;
  const plugin = await load(given.module);
  if (plugin === undefined) return exit(1);
  const host = serveHost({
    plugin,
    input: openInput(input),
    output: out,
    stderr,
    clock: systemClock,
    drainMs: given.drainMs,
  });
  process.on("uncaughtException", host.takeUncaught);
  process.on("unhandledRejection", host.takeUncaught);
  await host.done;
  return exit(0);
};
