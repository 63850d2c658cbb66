// Ends process groups and everything that came out of them: a signal to the group, a grace, then SIGKILL for each.
// EF1. The first signal goes to the group only: a server such as PostgreSQL ends its own children, and signalling them
//     behind its back looks to it like a crash.
// EF2. A group is signalled only right after somebody of it was seen: then its number cannot mean another group (FA2).
// EF3. What left the group is ended with it, after the same grace (kin.ts).
// EF4. SIGKILL is repeated until a look at the table finds nobody, because a process may fork between look and kill.
// This file is part of the guard's program: it imports nothing but Node and its neighbours.

import { setTimeout as delay } from "node:timers/promises";
import { findFamily, type Leader } from "./family.ts";
import { createKinFinder, identityOf, killUser } from "./kin.ts";
import { type ProcessTable, readProcessTable } from "./process-table.ts";

export interface Ending {
  readonly leader: Leader;
  readonly signal: NodeJS.Signals;
  /** How long the family may take to go by itself. */
  readonly graceMs: number;
}

// Short against every grace, long against one reading of the table (a few milliseconds).
const POLL_MS = 20;
// A process that does not go within this after SIGKILL hangs in the kernel; waiting longer helps nobody.
const KILL_PATIENCE_MS = 5000;

const trySignal = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in the meantime.
  }
};

/** One family on its way out. Each step looks once and acts once; true when nobody is left or patience is. */
const createStep = ({ leader, signal, graceMs }: Ending): ((table: ProcessTable) => boolean) => {
  const seen = new Set<string>();
  const findKin = createKinFinder(leader);
  const began = performance.now();
  let asked = false;
  return (table) => {
    for (const row of findKin(table)) seen.add(identityOf(row));
    const family = findFamily(leader, table, seen);
    if (family.length === 0) return true;
    const elapsed = performance.now() - began;
    if (!asked && family.some((row) => row.pgid === leader.pid)) trySignal(-leader.pid, signal);
    asked = true;
    if (elapsed >= graceMs) {
      for (const row of family) trySignal(row.pid, "SIGKILL");
      if (leader.soleUid !== undefined) killUser(leader.soleUid);
    }
    return elapsed > graceMs + KILL_PATIENCE_MS;
  };
};

/** Ends all of them at the same time, reading the table once for all per look. */
export const endFamilies = async (endings: readonly Ending[]): Promise<void> => {
  let steps = endings.map(createStep);
  while (steps.length > 0) {
    const table = readProcessTable();
    steps = steps.filter((step) => !step(table));
    if (steps.length > 0) await delay(POLL_MS);
  }
};
