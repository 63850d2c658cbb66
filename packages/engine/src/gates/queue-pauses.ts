// How long a caller that found a full queue is told to wait: an estimate, from what this process saw of the queue.
//   QS1. While the queue moves, the pause is as long as the queue has stood still: 1 to 10 seconds. A queue that was just filled has not stood
//        still yet, so calls that arrive together are told to come again in a second.
//   QS2. The pause is a minute when the queue has stood still for ten seconds, or when no call in it can start: its calls are for later, wait for
//        a person, or have no service.
//   QS3. When no caller was refused for longer than the longest pause, the memory of the queue is dropped: other processes may have moved it since.

import type { Clock } from "../ports/clock.ts";
import { createRecent } from "../recent/recent.ts";

export interface QueuePauses {
  /** There was room in the queue of the project, or a call of it ended. */
  moved(projectId: string): void;
  /** Seconds after which a refused caller should try again. `canStart`: at least one call in the queue starts as soon as a service takes it. */
  pause(projectId: string, canStart: boolean): number;
}

const MAX_PROJECTS = 10_000;
/** A queue that has stood still for longer says nothing about when its next call starts. */
const LATELY_MS = 10_000;
const LONG_PAUSE_SECONDS = 60;
const FORGOTTEN_MS = LONG_PAUSE_SECONDS * 1_000 + LATELY_MS;

/** Seconds to wait for a queue that has stood still for `stillMs`. Pure. */
export const planPause = (stillMs: number): number =>
  stillMs > LATELY_MS ? LONG_PAUSE_SECONDS : Math.max(Math.ceil(stillMs / 1_000), 1);

export const createQueuePauses = (clock: Pick<Clock, "now">): QueuePauses => {
  /** `at`: when the queue was last asked for. */
  const seen = createRecent<{ readonly movedAt: number; readonly at: number }>(MAX_PROJECTS);
  return {
    moved(projectId) {
      const at = clock.now();
      seen.set(projectId, { movedAt: at, at });
    },
    pause(projectId, canStart) {
      const at = clock.now();
      const last = seen.get(projectId);
      const movedAt = last === undefined || at - last.at > FORGOTTEN_MS ? at : last.movedAt;
      seen.set(projectId, { movedAt, at });
      return canStart ? planPause(at - movedAt) : LONG_PAUSE_SECONDS;
    },
  };
};
