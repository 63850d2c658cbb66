// The checker of crash runs: counts what was lost, doubled or left behind, from the tables and the journal alone. It shares no
// code with the engine (a test checks that), so a mistake there cannot hide itself here.

import { setTimeout as delay } from "node:timers/promises";
import { type JournalLine, readJournal } from "../crash/journal.ts";
import { checkCallEvents } from "./check-call-events.ts";
import { checkCalls } from "./check-calls.ts";
import { checkCards } from "./check-cards.ts";
import { checkMessages } from "./check-messages.ts";
import { checkTurns } from "./check-turns.ts";
import { type CheckOptions, gatherFacts } from "./facts.ts";
import { collectFindings, type Findings, isSound } from "./findings.ts";
import { countingOpen, readTables, type Tables } from "./tables.ts";

/** Pure: what is wrong with these tables, compared with the journal. */
export const planFindings = (tables: Tables, journal: readonly JournalLine[], options: CheckOptions = {}): Findings => {
  const facts = gatherFacts(tables, journal, options);
  return collectFindings(
    [checkCalls, checkCallEvents, checkCards, checkTurns, checkMessages].flatMap((check) => [...check(facts)]),
  );
};

export interface CheckRun extends CheckOptions {
  readonly databaseUrl: string;
  readonly journal: string;
}

export const checkDatabase = async (run: CheckRun): Promise<Findings> =>
  planFindings(await readTables(run.databaseUrl), readJournal(run.journal), run);

const POLL_MS = 50;

/**
 * Waits until nothing is under way and nothing is wrong, at most `timeoutMs` or until the signal; then returns what is wrong. A
 * run that is still not sound after the watchdogs had their time has broken a promise.
 */
export const checkWhenQuiet = (run: CheckRun, timeoutMs: number, signal?: AbortSignal): Promise<Findings> =>
  countingOpen(run.databaseUrl, async (countOpen) => {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const open = await countOpen();
      const over = performance.now() > deadline || signal?.aborted === true;
      const quiet = open.calls + open.turns + open.commands === 0;
      if (quiet || over) {
        const findings = await checkDatabase(run);
        if (isSound(findings) || over) return findings;
      }
      await delay(POLL_MS);
    }
  });
