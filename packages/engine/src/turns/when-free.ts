// For a transaction that needs rows another transaction is writing, and must not wait while it holds its own: it is rolled back
// and begun again. Others hold such rows for milliseconds. If this one waited, another transaction might wait for it in turn,
// and both would stand still until the database ends one of them.

import { isToolplaneError } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";

/** The errors for a row that is locked (nowait), and for a deadlock that the database detected. */
const HELD = new Set(["55P03", "40P01"]);
const PAUSE_MS = 5;
/** Some seconds: no transaction holds a row longer unless the database itself stands still; then the caller is told. */
const MAX_TRIES = 500;

const isHeld = (error: unknown): boolean =>
  isToolplaneError(error) && error.code === "storage_error" && HELD.has(String(error.detail?.sqlstate));

export const whenFree = async <T>(clock: Clock, work: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isHeld(error) || tries === MAX_TRIES) throw error;
      await clock.sleep(PAUSE_MS);
    }
  }
};
