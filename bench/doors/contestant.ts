// What is compared: a product in one way of using it, with the processes it needs and how to take it apart again.

import type { Findings } from "@toolplane/testkit";
import type { Program } from "./program.ts";

/** Who used the CPU: the caller's process, a server between caller and worker, the worker's process, the store. */
export const ROLES = ["caller", "server", "worker", "store"] as const;
export type Role = (typeof ROLES)[number];

/** What the store has counted since it began; undefined where it does not count that. */
export interface StoreCounts {
  /** Statements of PostgreSQL, commands of Redis. */
  readonly statements?: number | undefined;
  readonly commits?: number | undefined;
  readonly syncs?: number | undefined;
  /** Bytes of the log: WAL, AOF. */
  readonly bytes?: number | undefined;
}

/** What is known when everything has ended. */
export interface Closing {
  /** All calls that were answered, warm-up included. */
  readonly calls: number;
  /** Results found in the store afterwards; undefined where they cannot be counted. */
  readonly stored?: number | undefined;
  /** What the crash suites' checker says; of ours only. */
  readonly findings?: Findings | undefined;
}

export interface Running extends AsyncDisposable {
  readonly processes: readonly { readonly role: Role; readonly pid: number }[];
  readonly caller: Program;
  /** Which store, in which version, with which settings. */
  readonly store: string;
  readCounts(): Promise<StoreCounts>;
  /** Ends callers and workers, then looks at what the store holds. */
  close(): Promise<Closing>;
}

export interface Contestant {
  /** What `--only` calls it. */
  readonly key: string;
  readonly name: string;
  readonly kind: "ours" | "baseline" | "peer";
  /** One process for caller and work, work in another process, or a whole turn of an agent. */
  readonly shape: "library" | "apart" | "turn";
  /** What a power cut may take of what was acknowledged; undefined: nothing. */
  readonly mayLose?: string | undefined;
  readonly settings: string;
  /** Why it cannot run here; undefined when it can. */
  findMissing(): Promise<string | undefined>;
  open(): Promise<Running>;
}
