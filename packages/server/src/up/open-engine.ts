// The engine on its store. A store that is just starting (an adopted server may have been on its way out) is waited for; a store
// that does not answer at all is explained in one sentence, without the secrets of its URL.

import { setTimeout as delay } from "node:timers/promises";
import { createEngine, type Engine, type EngineOptions } from "@toolplane/engine";
import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import type { Store } from "./store.ts";

/** The store hears of its server's death within this time of the statement that failed. */
const HEARSAY_MS = 2_000;
const POLL_MS = 25;

/** Without user and password; a URL over a socket is not a URL to the standard and stays unnamed. */
const nameDatabase = (url: string): string => {
  if (!URL.canParse(url)) return "the database";
  const { host, pathname } = new URL(url);
  return `the database ${host}${pathname}`;
};

const explain = (error: unknown, store: Store): unknown => {
  if (!isToolplaneError(error) || error.code !== "storage_error" || store.kind !== "postgres") return error;
  // The error already says which of the two URLs is meant.
  if (error.detail?.todo !== undefined) return error;
  const cause = error.cause as { readonly code?: unknown; readonly message?: unknown } | undefined;
  const why = String(cause?.message || cause?.code || error.message).split("\n")[0];
  const database = nameDatabase(store.connection.connectionString ?? "");
  return new ToolplaneError("storage_error", `${database} cannot be used: ${why}`, {
    detail: { todo: "check --database-url and that the server runs" },
    cause: error,
  });
};

const wasAway = async (store: Store, livesBefore: number): Promise<boolean> => {
  const deadline = performance.now() + HEARSAY_MS;
  while (store.kind === "embedded" && performance.now() < deadline) {
    if (!store.ready() || store.lives() !== livesBefore) return true;
    await delay(POLL_MS);
  }
  return false;
};

export const openEngine = async (
  store: Store,
  options: Omit<EngineOptions, "connection" | "migrationConnection">,
): Promise<Engine> => {
  for (;;) {
    const lives = store.lives();
    try {
      const { connection, migrationConnection } = store;
      return await createEngine({ ...options, connection, migrationConnection });
    } catch (error) {
      if (!isToolplaneError(error) || error.code !== "storage_error" || !(await wasAway(store, lives)))
        throw explain(error, store);
      await store.untilReady();
    }
  }
};
