// One life of a process in a crash run: an engine with callers, workers, services and listeners. Started again on the same
// database and journal, it continues where the last one died.

import { type AgentKey, createEngine, type Engine } from "@toolplane/engine";
import { type Faults, noFaults } from "@toolplane/engine/internal";
import { type AgentWorker, startAgentWorker } from "./agent-worker.ts";
import { createCrashCarrier, publishItems } from "./bus-traffic.ts";
import { createCaller } from "./caller.ts";
import { ATTIC_PROJECT, CRASH_PROJECT } from "./crash-seed.ts";
import { type ItemCounts, planItems, type Shard } from "./item.ts";
import { openJournal } from "./journal.ts";
import { type CommandRef, type Service, startService } from "./service.ts";

export interface WorkloadConfig {
  readonly databaseUrl: string;
  /** The file; several processes may share it. */
  readonly journal: string;
  readonly name: string;
  readonly items: ItemCounts;
  readonly shard?: Shard | undefined;
  /** Who carries commands and messages. */
  readonly carrier?: "postgres" | "external" | undefined;
  readonly leaseSeconds?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly inFlight?: number | undefined;
  readonly slots?: number | undefined;
  /** How long the simulated tools take before and after their effect, at most. */
  readonly workMs?: number | undefined;
}

export interface Workload extends AsyncDisposable {
  readonly engine: Engine;
  /** All items of this process were asked for; calls may still be under way. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

// Longer than a healthy call takes on a loaded machine; a dead process is noticed this late.
const LEASE_SECONDS = 1;
/** More than the number of kills in a run, so that a safe call is not given up because of them. */
const MAX_ATTEMPTS = 50;

export const startWorkload = async (config: WorkloadConfig, faults: Faults = noFaults): Promise<Workload> => {
  const { carrier = "postgres", shard = { index: 0, of: 1 }, inFlight = 8, slots = 64 } = config;
  const journal = openJournal(config.journal);
  const stopping = new AbortController();
  const { signal } = stopping;
  // Commands of an earlier life may come before this one's service is there; they are published again.
  let serving: Service | undefined;
  let thinking: AgentWorker | undefined;
  const offer = (command: CommandRef): void => serving?.offer(command);
  const ring = (agent: AgentKey): void => thinking?.ring(agent);
  const leaseSeconds = config.leaseSeconds ?? LEASE_SECONDS;
  const maxAttempts = config.maxAttempts ?? MAX_ATTEMPTS;
  const engine = await createEngine({
    connection: { connectionString: config.databaseUrl },
    maxConnections: 6,
    faults,
    leaseSeconds,
    maxAttempts,
    turns: { claimSeconds: leaseSeconds, maxClaims: maxAttempts },
    carrier: carrier === "external" ? createCrashCarrier(journal, { offer, ring }) : undefined,
  });
  const items = planItems(config.items, shard);
  const traffic = { engine, journal, signal };
  const service = startService({ engine, journal, name: config.name, slots, workMs: config.workMs ?? 0 });
  serving = service;
  const worker = startAgentWorker({ engine, journal, name: config.name });
  thinking = worker;
  if (carrier === "postgres") {
    await engine.serveAgents(worker);
    service.serve([CRASH_PROJECT, ATTIC_PROJECT]);
  }
  const caller = createCaller({ engine, journal, signal, inFlight });
  const done = Promise.all([caller.run(items), publishItems(traffic, items)]).then(() => undefined);

  const stop = async (): Promise<void> => {
    stopping.abort();
    await done;
    await service.stop();
    await worker.stop();
    await engine.close();
    journal.close();
  };
  return { engine, done, stop, [Symbol.asyncDispose]: stop };
};
