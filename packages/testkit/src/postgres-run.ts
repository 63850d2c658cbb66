// The one server a test run shares, and how a test file finds it.
// The global setup starts it and hands its place to every worker; outside a run (a script, a single file without the
// setup) a process starts its own on first use and the guard ends it with the process.

import { inject } from "vitest";
import { startTestPostgres } from "./postgres.ts";

/** How to reach the shared server. */
export interface SharedPostgres {
  readonly socketDir: string;
  readonly port: number;
  readonly version: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    toolplanePostgres: SharedPostgres;
  }
}

const injected = (): SharedPostgres | undefined => {
  try {
    return inject("toolplanePostgres");
  } catch {
    // Not inside a vitest worker.
    return undefined;
  }
};

let own: Promise<SharedPostgres> | undefined;

/** The server of this run, started on first use when no setup did. */
export const sharedPostgres = (): Promise<SharedPostgres> => {
  const provided = injected();
  if (provided !== undefined) return Promise.resolve(provided);
  own ??= startTestPostgres();
  return own;
};
