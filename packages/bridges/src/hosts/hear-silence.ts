// Decides when a host's silence means something. A host that is still starting cannot answer, and six that start at once on a
// busy machine take long. So only time in which its process was idle counts.
//   Where the system does not say how busy a process is, all time counts.

import type { Timers } from "./timers.ts";

export interface Silence {
  /** How long the process may be idle before it counts as silent. */
  readonly silentMs: number;
  /**
   * The limit for busy and idle time together, never less than `silentMs`: a process that works without end and never answers counts
   * as silent too.
   */
  readonly atMostMs: number;
  /** The processor time it has had, in any unit. */
  readonly cpuTime: () => number | undefined;
}

/** Short enough to notice a pause of the machine; each look costs one small read. */
const LOOKS = 4;

/** Calls `heard` when it was silent; the returned function ends the listening. */
export const hearSilence = (timers: Timers, silence: Silence, heard: () => void): (() => void) => {
  const { silentMs, atMostMs, cpuTime } = silence;
  const began = timers.now();
  let idleSince = began;
  let used = cpuTime();
  let callOff = (): void => {};
  const look = (): void => {
    const now = timers.now();
    const uses = cpuTime();
    if (uses !== undefined && uses !== used) {
      used = uses;
      idleSince = now;
    }
    const left = Math.min(idleSince + silentMs, began + Math.max(atMostMs, silentMs)) - now;
    if (left <= 0) heard();
    else callOff = timers.after(Math.min(left, Math.max(silentMs / LOOKS, 1)), look);
  };
  callOff = timers.after(silentMs / LOOKS, look);
  return () => callOff();
};
