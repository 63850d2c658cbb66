// The whole run: every contestant is opened once a round, warmed up, measured at every level and taken apart again, so no
// idle neighbour polls beside it. Rounds are interleaved: a busy quarter of an hour hits all of them alike. Every second round goes
// backwards, so that no contestant always runs before another.

import type { Findings } from "@toolplane/testkit";
import type { Contestant, Role } from "./contestant.ts";
import { type MachineFacts, readMachineFacts } from "./machine.ts";
import { runWindow, type Window } from "./window.ts";

export interface BenchOptions {
  readonly contestants: readonly Contestant[];
  readonly levels: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly now: () => Date;
  readonly log: (line: string) => void;
}

export interface Measured {
  readonly contestant: Omit<Contestant, "open" | "findMissing">;
  readonly store: string;
  readonly roles: readonly Role[];
  /** Every window of every round. */
  readonly windows: readonly Window[];
  readonly calls: number;
  readonly stored: number | undefined;
  /** Of ours: what the checker found, over all rounds. */
  readonly findings: readonly Findings[];
}

export interface BenchRun {
  readonly date: string;
  readonly machine: MachineFacts;
  readonly options: { readonly levels: readonly number[]; readonly rounds: number; readonly seconds: number };
  readonly measured: readonly Measured[];
  /** What is not in the table, and why. */
  readonly missing: readonly { readonly name: string; readonly reason: string }[];
}

const WARM_UP = { inFlight: 64, seconds: 2 };

interface Account {
  readonly contestant: Contestant;
  readonly windows: Window[];
  readonly findings: Findings[];
  store: string;
  roles: readonly Role[];
  calls: number;
  stored: number | undefined;
}

const measureRound = async (account: Account, options: BenchOptions): Promise<void> => {
  const { contestant, windows } = account;
  await using running = await contestant.open();
  account.store = running.store;
  account.roles = running.processes.map(({ role }) => role);
  await running.caller.ask({ ...WARM_UP, seconds: Math.min(WARM_UP.seconds, options.seconds) });
  for (const inFlight of options.levels) {
    const window = await runWindow(running, inFlight, options.seconds);
    windows.push(window);
    options.log(describeWindow(contestant.name, window));
  }
  const { calls, stored, findings } = await running.close();
  account.calls += calls;
  if (stored !== undefined) account.stored = (account.stored ?? 0) + stored;
  if (findings === undefined) return;
  account.findings.push(findings);
  for (const [fault, list] of Object.entries(findings) as [string, readonly string[]][])
    if (list.length > 0) options.log(`${contestant.name}: ${list.length} ${fault}, the first: ${list[0]}`);
};

const describeWindow = (name: string, { inFlight, perSecond, p50Ms, stolen, others, repeated }: Window): string => {
  const share = (value: number): string => `${(value * 100).toFixed(0)} %`;
  const again = repeated === 0 ? "" : `, ${repeated} thrown away`;
  return `${name}: ${inFlight} in flight, ${perSecond.toFixed(0)} calls/s, p50 ${p50Ms.toFixed(1)} ms (others ${share(others)}, stolen ${share(stolen)}${again})`;
};

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const runBench = async (options: BenchOptions): Promise<BenchRun> => {
  const { contestants, levels, rounds, seconds, log } = options;
  const machine = readMachineFacts();
  const missing: { name: string; reason: string }[] = [];
  const accounts: Account[] = [];
  const giveUp = (name: string, reason: string): void => {
    missing.push({ name, reason });
    log(`${name} is not measured: ${reason}`);
  };
  for (const contestant of contestants) {
    const reason = await contestant.findMissing();
    if (reason === undefined)
      accounts.push({ contestant, windows: [], findings: [], store: "", roles: [], calls: 0, stored: undefined });
    else giveUp(contestant.name, reason);
  }
  const failed = new Set<Account>();
  for (let round = 1; round <= rounds; round++) {
    log(`round ${round} of ${rounds}`);
    for (const account of round % 2 === 0 ? accounts.toReversed() : accounts) {
      if (failed.has(account)) continue;
      try {
        await measureRound(account, options);
      } catch (error) {
        failed.add(account);
        giveUp(account.contestant.name, `it failed in round ${round}: ${describe(error)}`);
      }
    }
  }
  return {
    date: options.now().toISOString(),
    machine,
    options: { levels, rounds, seconds },
    measured: accounts
      .filter((account) => !failed.has(account))
      .map(({ contestant: { open: _open, findMissing: _findMissing, ...contestant }, ...rest }) => ({
        contestant,
        ...rest,
      })),
    missing,
  };
};
