// A faults port that acts once: at the n-th hit of a point it ends the process, fails, or stops it.

import { flushCompileCache } from "node:module";
import type { FaultPoint, Faults } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";

export type FaultAct = "kill" | "throw" | "stall";

export interface PlannedFault {
  readonly point: FaultPoint;
  /** 1 is the first time. */
  readonly hit: number;
  readonly act: FaultAct;
}

export interface FaultMeans {
  /** Called just before the process ends itself; no other code may run in between. */
  readonly dying: (point: FaultPoint) => void;
  /** Called just before the process stops itself. */
  readonly stalling: (point: FaultPoint) => void;
}

export interface PlannedFaults extends Faults {
  /** How often a point was reached. */
  hits(point: FaultPoint): number;
}

/** Ends this process as the kernel would; nothing runs after it. */
const killMyself = (): never => {
  // As a process does when it exits normally: its successors start faster with the compiled code that it stored.
  flushCompileCache();
  process.kill(process.pid, "SIGKILL");
  // The signal is on its way; until it arrives none of our code may run.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
};

export const createPlannedFaults = (plan: readonly PlannedFault[], means: FaultMeans): PlannedFaults => {
  const counts = new Map<FaultPoint, number>();
  return {
    at(point) {
      const hit = (counts.get(point) ?? 0) + 1;
      counts.set(point, hit);
      const fault = plan.find((one) => one.point === point && one.hit === hit);
      switch (fault?.act) {
        case undefined:
          return;
        case "kill":
          means.dying(point);
          return killMyself();
        case "throw":
          // As if the database had failed at this moment: the caller may ask again.
          throw new ToolplaneError("storage_error", `fault at ${point}`);
        case "stall":
          means.stalling(point);
          // No code of this process runs until it gets SIGCONT.
          process.kill(process.pid, "SIGSTOP");
          return;
      }
    },
    hits: (point) => counts.get(point) ?? 0,
  };
};
