// A crash run: a database in its starting state, a journal, and the check at the end.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CheckRun, checkWhenQuiet } from "../checker/check.ts";
import type { Findings } from "../checker/findings.ts";
import { createTestDatabase } from "../postgres-database.ts";
import { ATTIC_PROJECT, CRASH_TEMPLATE } from "./crash-seed.ts";
import type { ItemCounts } from "./item.ts";
import { type JournalLine, readJournal } from "./journal.ts";
import { verifyHistories } from "./verify-histories.ts";
import { startWorkload, type WorkloadConfig } from "./workload.ts";

export interface CrashRun extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly journal: string;
  readonly carrier: "postgres" | "external";
  /** The configuration of one life of one process. */
  life(name: string, items: ItemCounts, more?: Partial<WorkloadConfig>): WorkloadConfig;
  lines(): readonly JournalLine[];
  /** A clean life that asks for what is left, then the check when all is quiet. */
  recover(items: ItemCounts, timeoutMs?: number): Promise<Findings>;
  check(timeoutMs?: number, signal?: AbortSignal): Promise<Findings>;
}

export interface CrashRunOptions {
  readonly carrier?: "postgres" | "external" | undefined;
  /** A database that was brought to the starting state already; the shared server's otherwise. */
  readonly databaseUrl?: string | undefined;
}

// A lease, a backoff and the slow look of a bus consumer, one after the other, on a busy machine.
const QUIET_MS = 60_000;

export const openCrashRun = async (options: CrashRunOptions = {}): Promise<CrashRun> => {
  const { carrier = "postgres" } = options;
  const directory = mkdtempSync(join(tmpdir(), "toolplane-crash-"));
  const journal = join(directory, "journal.ndjson");
  const database = options.databaseUrl === undefined ? await createTestDatabase(CRASH_TEMPLATE) : undefined;
  const databaseUrl = options.databaseUrl ?? database?.url ?? "";
  const run: CheckRun = { databaseUrl, journal, carrier, forgotten: [ATTIC_PROJECT] };
  const life: CrashRun["life"] = (name, items, more = {}) => ({ databaseUrl, journal, carrier, name, items, ...more });
  const check: CrashRun["check"] = async (timeoutMs = QUIET_MS, signal) => {
    const findings = await checkWhenQuiet(run, timeoutMs, signal);
    return { ...findings, broken: [...findings.broken, ...(await verifyHistories(databaseUrl))] };
  };
  return {
    databaseUrl,
    journal,
    carrier,
    life,
    lines: () => readJournal(journal),
    check,
    async recover(items, timeoutMs) {
      await using workload = await startWorkload(life("recovery", items));
      await workload.done;
      return await check(timeoutMs);
    },
    async [Symbol.asyncDispose]() {
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
