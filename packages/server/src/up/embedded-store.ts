// Keeps the embedded server running. States: ready -> away (its connection or its process was lost) -> ready again, or lost
// (another process owns the data now); stopped ends all of them.
//   ES1. A server that died is started again, at once the first time and then with growing pauses.
//   ES2. A server that lives but dropped our connection keeps running; only the lock is taken again.
//   ES3. Without the lock we stop: a data directory never has two owners.

import { type Log, type LogFields, systemClock } from "@toolplane/engine";
import { type Guard, OWNER, RUNTIME, socketUrl } from "@toolplane/processes";
import { type Backoff, backoff, isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { writeDatabaseUrl } from "./logins.ts";
import { type Owner, tryLock } from "./owner-lock.ts";
import { alreadyRunning, beginLife, DATABASE, type LifeOptions } from "./server-life.ts";
import { makeStableSocket } from "./stable-socket.ts";
import type { Store } from "./store.ts";

export interface EmbeddedStoreOptions {
  readonly dataDir: string;
  readonly throwAway: boolean;
  readonly guard: Guard;
  readonly log: Log;
  readonly pid: number;
}

/** A server that lived shorter than this will probably die again at once. */
const SHORT_LIFE_MS = 10_000;
const PAUSE_MS: Backoff = { first: 200, longest: 10_000 };

/** How long to wait before trying again: not at all after a long life. */
export const planRestartPause = (failures: number): number => (failures === 0 ? 0 : backoff(PAUSE_MS, failures));

const isOwnedByOther = (error: unknown): error is ToolplaneError =>
  isToolplaneError(error) && error.code === "conflict";

export const openEmbeddedStore = async (options: EmbeddedStoreOptions): Promise<Store> => {
  const { dataDir, guard, throwAway, log } = options;
  const stopping = new AbortController();
  let self: Owner = { pid: options.pid, address: undefined };
  const lifeOptions = (): LifeOptions => ({ dataDir, guard, throwAway, self, log });

  let { server, lock } = await beginLife(lifeOptions());
  const socket = await makeStableSocket(server.socketDir, guard);
  const urlOf = (user: string): string => socketUrl({ ...server.login(user), socketDir: socket.directory }, DATABASE);
  const url = urlOf(RUNTIME);
  writeDatabaseUrl(dataDir, urlOf(OWNER));
  let lives = 1;
  let ready = true;
  let begun = systemClock.now();
  let back = Promise.resolve();
  let giveUp: (reason: Error) => void = () => {};
  const lost = new Promise<Error>((resolve) => {
    giveUp = resolve;
  });

  const describe = (): LogFields => ({ pid: server.pid, version: server.version });
  log.info(server.adopted ? "a database server without an owner was adopted" : "the database runs", describe());

  const tryAgain = async (): Promise<void> => {
    if (server.alive()) {
      const attempt = await tryLock(url, self);
      if (attempt.state === "owned") {
        // The server reports the dropped connection first and releases its lock after that.
        if (attempt.backend === lock.backend)
          throw new ToolplaneError("storage_error", "the dropped connection is not gone yet");
        throw alreadyRunning(dataDir, attempt.owner);
      }
      lock = attempt.lock;
      return;
    }
    await server.stop();
    ({ server, lock } = await beginLife(lifeOptions()));
    socket.point(server.socketDir);
  };

  /** Waits until the server is there again; false when the store is stopped or lost. */
  const bringBack = async (failuresBefore: number): Promise<boolean> => {
    for (let failures = failuresBefore; ; failures += 1) {
      await systemClock.sleep(planRestartPause(failures), stopping.signal);
      if (stopping.signal.aborted) return false;
      try {
        await tryAgain();
        return true;
      } catch (error) {
        if (isOwnedByOther(error)) {
          giveUp(error);
          return false;
        }
        log.error("the database does not come back; trying again", { reason: String(error) });
      }
    }
  };

  const keep = async (): Promise<void> => {
    for (let failures = 0; ; ) {
      await lock.lost;
      if (stopping.signal.aborted) return;
      ready = false;
      failures = systemClock.now() - begun < SHORT_LIFE_MS ? failures + 1 : 0;
      log.warn("the database is away", { pid: server.pid, alive: server.alive() });
      let returned = (): void => {};
      back = new Promise((resolve) => {
        returned = resolve;
      });
      const isBack = await bringBack(failures);
      lives += 1;
      begun = systemClock.now();
      ready = isBack;
      returned();
      if (!isBack) return;
      log.info("the database is back", describe());
    }
  };
  const keeping = keep();

  return {
    kind: "embedded",
    connection: { connectionString: url },
    migrationConnection: { connectionString: urlOf(OWNER) },
    ready: () => ready,
    lives: () => lives,
    untilReady: () => back,
    async announce(address) {
      self = { ...self, address };
      // The connection is just being replaced; the new one will carry it.
      await lock.announce(address).catch(() => {});
    },
    lost,
    async stop() {
      stopping.abort();
      await lock.release();
      await keeping;
      // The server may have come back while it was being stopped.
      await lock.release();
      await server.stop();
      await socket.remove();
    },
  };
};
