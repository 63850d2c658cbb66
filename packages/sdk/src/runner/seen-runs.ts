// Commands repeat: a bus delivers twice, an answer is sent twice. One command under one lease is one run.
//   SN1. The same command under the same lease joins the existing run, also when that run has ended.
//   SN2. The same call under another lease means that the old lease is over: the old run is told so, and a new run starts.

import type { RunSignal } from "./run-signal.ts";
import type { CallEnd } from "./run-state.ts";

/** A repeat comes within seconds; a thousand ended runs are a few hundred kilobytes. */
const MAX_REMEMBERED = 1_000;

export interface SeenRun {
  readonly leaseId: string | undefined;
  readonly end: Promise<CallEnd>;
}

interface Entry extends SeenRun {
  readonly signal: RunSignal;
}

export interface SeenRuns {
  find(key: string, leaseId: string | undefined): SeenRun | undefined;
  add(key: string, leaseId: string | undefined, signal: RunSignal, end: Promise<CallEnd>): void;
}

export const createSeenRuns = (): SeenRuns => {
  const running = new Map<string, Entry>();
  const ended = new Map<string, Entry>();

  const remember = (key: string, entry: Entry): void => {
    if (running.get(key) === entry) running.delete(key);
    ended.set(key, entry);
    const oldest = ended.size > MAX_REMEMBERED ? ended.keys().next().value : undefined;
    if (oldest !== undefined) ended.delete(oldest);
  };

  return {
    find(key, leaseId) {
      const entry = running.get(key) ?? ended.get(key);
      if (entry === undefined || entry.leaseId === leaseId) return entry;
      entry.signal.end("lost");
      return undefined;
    },
    add(key, leaseId, signal, end) {
      const entry: Entry = { leaseId, signal, end };
      running.set(key, entry);
      void end.then(
        () => remember(key, entry),
        () => running.delete(key),
      );
    },
  };
};
