// A process that is a tool host: its stdio belongs to the protocol, and plugin code can neither end it nor bring it down.

import type { Readable, Writable } from "node:stream";
import { UsageError } from "@toolplane/protocol";
import { systemClock } from "../ports/clock.ts";
import { divertStdout, type HostDescriptors, openInput, openOutput } from "./host-stdio.ts";
import type { HostPlugin } from "./plugin.ts";
import { serveHost } from "./serve-host.ts";

export interface HostProcess {
  readonly input: Readable;
  readonly output: Writable;
  /** The real one; plugin code's is refused. */
  readonly exit: (code: number) => never;
}

const STANDARD: HostDescriptors = { input: 0, output: 1 };

export const writeStderr = (text: string): void => {
  process.stderr.write(text);
};

/** A library that calls process.exit would end every other call with it. */
const refuseExit = (): never => {
  throw new UsageError("a tool must not end its host: process.exit was refused");
};

/** Must come before any plugin code is loaded. `moved`: the launcher has put the protocol elsewhere already. */
export const takeProcess = (moved: HostDescriptors | undefined): HostProcess => {
  const exit = process.exit.bind(process);
  const { input, output } = moved ?? STANDARD;
  const taken = { input: openInput(input), output: openOutput(output), exit };
  if (moved === undefined) divertStdout();
  process.exit = refuseExit;
  return taken;
};

/** Ends the process; nothing that plugin code left open may keep it. */
export const serveProcess = async (
  plugin: HostPlugin,
  { input, output, exit }: HostProcess,
  drainMs?: number | undefined,
): Promise<never> => {
  const host = serveHost({ plugin, input, output, stderr: writeStderr, clock: systemClock, drainMs });
  process.on("uncaughtException", host.takeUncaught);
  process.on("unhandledRejection", host.takeUncaught);
  await host.done;
  return exit(0);
};
