// Ends process groups and all their descendants: a signal to the group, a grace, then SIGKILL for each.
// EF1. The first signal goes to the group only: a server such as PostgreSQL ends its own children, and would take a signal to
//     them for a crash.
// EF2. A group is signalled only right after one of its members was seen: then its number cannot mean another group (FA2).
// EF3. Processes that left the group are ended with it, after the same grace (kin.ts).
// EF4. SIGKILL is repeated until the process table shows none of them, because a process may fork between look and kill.
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
// A process that has not ended this long after SIGKILL hangs in the kernel; waiting longer would not help.
const KILL_PATIENCE_MS = 5000;

export const trySignal = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in the meantime.
  }
};

/** One family that is being ended. Each step looks once and acts once; true when none is left or the time is over. */
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

/** Ends all of them at the same time; each look reads the table once for all. */
export const endFamilies = async (endings: readonly Ending[]): Promise<void> => {
  let steps = endings.map(createStep);
  while (steps.length > 0) {
    const table = readProcessTable();
    steps = steps.filter((step) => !step(table));
    if (steps.length > 0) await delay(POLL_MS);
  }
};
