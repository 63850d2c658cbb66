// For a program that is a tool host itself (`node ./my-host.ts`) instead of a module that toolplane-host loads.

import type { Tool } from "../tools/define-tool.ts";
import { serveProcess, takeProcess } from "./host-process.ts";
import { findPlugin } from "./load-plugin.ts";
import type { HostPlugin } from "./plugin.ts";

export interface RunHostOptions {
  /** How long what runs may take to finish after the parent stopped writing. */
  readonly drainMs?: number | undefined;
}

/** Serves the protocol on stdin and stdout and then ends the process. From here on console.log writes to stderr. */
export const runHost = (
  what: HostPlugin | (new () => HostPlugin) | Tool | readonly Tool[],
  { drainMs }: RunHostOptions = {},
): Promise<never> => serveProcess(findPlugin({ default: what }, "runHost"), takeProcess(undefined), drainMs);
