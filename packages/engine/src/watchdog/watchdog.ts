// The watchdogs' loop: every process with a database runs it, and none is in charge. Each job is a bounded sweep; a full sweep
// is followed by another at once, otherwise the loop sleeps. A job that fails is tried again with the next tick: a database that
// is away must not end the loop. The log has the first failure of a row and its end.

import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

export interface WatchdogJob {
  readonly name: string;
  readonly everyMs: number;
  /** When the job runs for the first time, if not after `everyMs`. */
  readonly firstMs?: number | undefined;
  /** True when there may be more to do right away. */
  run(): Promise<boolean>;
}

export interface Watchdog {
  /** Resolves when the sweep under way is done. */
  stop(): Promise<void>;
}

export const startWatchdog = (deps: {
  readonly jobs: readonly WatchdogJob[];
  readonly clock: Clock;
  readonly log: Log;
}): Watchdog => {
  const stopping = new AbortController();

  const watch = async (job: WatchdogJob): Promise<void> => {
    let failures = 0;
    let pauseMs = job.firstMs ?? job.everyMs;
    while (!stopping.signal.aborted) {
      await deps.clock.sleep(pauseMs, stopping.signal);
      pauseMs = job.everyMs;
      let more = !stopping.signal.aborted;
      while (more && !stopping.signal.aborted) {
        try {
          more = await job.run();
          if (failures > 0) deps.log.info("a watchdog job works again", { job: job.name, failures });
          failures = 0;
        } catch (error) {
          more = false;
          if (failures++ === 0)
            deps.log.warn("a watchdog job failed; it is tried again", { job: job.name, error: String(error) });
        }
      }
    }
  };

  const loops = deps.jobs.map(watch);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
};
