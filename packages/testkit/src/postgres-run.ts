// The one server a test run shares, and how a test file finds it.
// The global setup starts it and hands its place to every worker; outside a run (a script, a single file without the
// setup) a process starts its own on first use and the guard ends it with the process.

import type { SocketLogin } from "@toolplane/processes";
import type {} from "vitest";
import { describeLogin, startTestPostgres } from "./postgres.ts";
import { makeTestDirectory } from "./test-directory.ts";

/** How to reach the shared server, as its superuser. */
export interface SharedPostgres extends SocketLogin {
  readonly version: string;
  /** A directory for what is made once per run and copied; the server's user can pass through it. */
  readonly templates: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    toolplanePostgres: SharedPostgres;
  }
}

/** Vitest refuses to be loaded outside a run, so it is asked for only now. */
const tryInject = async (): Promise<SharedPostgres | undefined> => {
  try {
    const { inject } = await import("vitest");
    return inject("toolplanePostgres");
  } catch {
    return undefined;
  }
};

const startOwn = async (): Promise<SharedPostgres> => ({
  ...describeLogin(await startTestPostgres()),
  templates: (await makeTestDirectory()).path,
});

let own: Promise<SharedPostgres> | undefined;

/** The server of this run, started on first use when no setup did. */
export const sharedPostgres = async (): Promise<SharedPostgres> => {
  const provided = await tryInject();
  if (provided !== undefined) return provided;
  own ??= startOwn();
  return own;
};
