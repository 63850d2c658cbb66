// Memory for long cards, shared by the steps of this process. A step that reads many waits here until there is room, so that a
// hundred such turns at once take as much as a few.
//   SM1. No step fails for lack of room: a step that needs more than all of it runs alone.
//   SM2. Small needs do not wait; how many of them there are is bounded by the steps that a worker runs at once.
//   SM3. Projects take turns: a project with a hundred heavy steps delays the step of another by two of them.

import { createFairLine } from "@toolplane/engine";

export interface StepRoom {
  /** Until it is disposed. */
  enter(projectId: string, bytes: number): Promise<Disposable>;
  held(): number;
}

/** Two of the largest steps. */
const ROOM_BYTES = 64 * 1024 * 1024;
const SMALL_BYTES = 1024 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly go: () => void;
}

export const createStepRoom = (roomBytes = ROOM_BYTES, smallBytes = SMALL_BYTES): StepRoom => {
  const line = createFairLine<Waiting>({ maxWaiting: Number.POSITIVE_INFINITY, maxRunning: 1 });
  let next: Waiting | undefined;
  let held = 0;

  const letIn = (): void => {
    for (;;) {
      if (next === undefined) {
        const taken = line.take();
        if (taken === undefined) return;
        line.done(taken.tenant);
        next = taken.item;
      }
      if (held > 0 && held + next.bytes > roomBytes) return;
      held += next.bytes;
      next.go();
      next = undefined;
    }
  };

  return {
    async enter(projectId, bytes) {
      if (bytes <= smallBytes) held += bytes;
      else {
        await new Promise<void>((go) => {
          line.push(projectId, { bytes, go });
          letIn();
        });
      }
      let isIn = true;
      return {
        [Symbol.dispose]() {
          if (!isIn) return;
          isIn = false;
          held -= bytes;
          letIn();
        },
      };
    },
    held: () => held,
  };
};
