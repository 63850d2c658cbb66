// Logs failed requests: each one, except while the database is away. Then all fail for the same reason, so one line is logged
// when it begins and one when it ends, with the number of failures.

import { type Clock, type Log, systemClock } from "@toolplane/engine";
import type { ErrorCode } from "@toolplane/protocol";

export interface RequestFailure {
  readonly path: string;
  readonly method: string;
  readonly code: ErrorCode;
  readonly cause: string;
}

export interface FailureLog {
  failed(failure: RequestFailure): void;
  /** A request that began then got its answer. */
  answered(beganAt: number): void;
}

/** Failed and successful requests mixed are one outage; a success that began this long after the last failure ends it. */
const QUIET_MS = 1_000;

export const createFailureLog = (log: Log, clock: Pick<Clock, "now"> = systemClock): FailureLog => {
  let outage: { readonly began: number; readonly last: number; readonly count: number } | undefined;
  return {
    failed(failure) {
      if (failure.code !== "storage_error") {
        log.error("a request failed", { ...failure });
        return;
      }
      const now = clock.now();
      if (outage === undefined)
        log.error(
          "requests fail because the database does not answer; the number of failures is logged when it is back",
          { ...failure },
        );
      outage = { began: outage?.began ?? now, last: now, count: (outage?.count ?? 0) + 1 };
    },
    answered(beganAt) {
      if (outage === undefined || beganAt - outage.last < QUIET_MS) return;
      log.info("requests are answered again", {
        failed: outage.count,
        seconds: Math.round((outage.last - outage.began) / 100) / 10,
      });
      outage = undefined;
    },
  };
};
