// A database server of its own that syncs to disk, is killed and comes back, behind an address that stays.

import { startChosenPostgres } from "../postgres.ts";
import { CRASH_TEMPLATE } from "./crash-seed.ts";
import { startDatabaseProxy } from "./database-proxy.ts";

export interface MortalServer extends AsyncDisposable {
  /** The same after every death. */
  readonly url: string;
  /** SIGKILL, and a new server on what is on the disk. */
  killAndRestart(): Promise<void>;
}

/** In the starting state of a crash run. */
export const startMortalServer = async (settings: Readonly<Record<string, string>> = {}): Promise<MortalServer> => {
  let server = await startChosenPostgres({ sync: true, settings });
  await CRASH_TEMPLATE.migrate(server.url());
  const proxy = await startDatabaseProxy(server.url());
  return {
    url: proxy.url,
    async killAndRestart() {
      await server.kill();
      server = await server.restart();
      proxy.aim(server.url());
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await server.stop();
    },
  };
};
