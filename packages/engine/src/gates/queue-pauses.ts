// How long a caller that found a full queue is told to wait: an estimate, from what this process saw of the queue and from the newest call in it.
//   QS1. While the queue moves, the pause is as long as the queue has stood still: 1 to 10 seconds. A queue that was just filled has not stood
//        still yet, so calls that arrive together are told to come again in a second.
//   QS2. The pause is a minute when the queue has stood still for ten seconds, or when no call in it can start: its calls are for later, wait for
//        a person, or have no service.
//   QS3. Other processes move the queue too, and this process does not see it. But the newest call in a full queue found room when it was made,
//        so the queue has stood still for no longer than that.

import type { Clock } from "../ports/clock.ts";
import { createRecent } from "../recent/recent.ts";

export interface QueuePauses {
  /** There was room in the queue of the project, or a call of it ended. */
  moved(projectId: string): void;
  /**
   * Seconds after which a refused caller should try again. `canStart`: at least one call in the queue starts as soon as a service takes it.
   * `newestMs`: how long ago the newest call in the queue was made.
   */
  pause(projectId: string, canStart: boolean, newestMs: number): number;
}

const MAX_PROJECTS = 10_000;
/** A queue that has stood still for longer says nothing about when its next call starts. */
const LATELY_MS = 10_000;
const LONG_PAUSE_SECONDS = 60;

/** Seconds to wait for a queue that has stood still for `stillMs`. Pure. */
export const planPause = (stillMs: number): number =>
  stillMs > LATELY_MS ? LONG_PAUSE_SECONDS : Math.max(Math.ceil(stillMs / 1_000), 1);

export const createQueuePauses = (clock: Pick<Clock, "now">): QueuePauses => {
  const moved = createRecent<{ readonly at: number }>(MAX_PROJECTS);
  return {
    moved: (projectId) => moved.set(projectId, { at: clock.now() }),
    pause(projectId, canStart, newestMs) {
      if (!canStart) return LONG_PAUSE_SECONDS;
      const now = clock.now();
      return planPause(now - Math.max(moved.get(projectId)?.at ?? Number.NEGATIVE_INFINITY, now - newestMs));
    },
  };
};
