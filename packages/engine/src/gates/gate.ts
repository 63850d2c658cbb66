// The nouns of the limits. A gate is what limited calls pass when they are claimed: one for each limited tool, one for a project with a
// limit of its own, which all its calls pass, and one for each target of a project whose targets have breakers.

import type { Breaker, Rate } from "@toolplane/protocol";

/** The gate of a project itself. No tool has this name. */
export const PROJECT_GATE = "";

/** No tool has a name that begins like this. */
export const TARGET_GATES = "/target/";

/** The gate of a target, where its breaker stands. */
export const targetGate = (target: string): string => `${TARGET_GATES}${target}`;

/** The target whose gate this is; undefined for the gate of a tool or project. */
export const targetOfGate = (gate: string): string | undefined =>
  gate.startsWith(TARGET_GATES) ? gate.slice(TARGET_GATES.length) : undefined;

/** The tool whose gate this is; undefined for the gate of a project or target. */
export const toolOfGate = (gate: string): string | undefined =>
  gate === PROJECT_GATE || targetOfGate(gate) !== undefined ? undefined : gate;

export interface GateLimits {
  readonly concurrency?: number | undefined;
  readonly rate?: Rate | undefined;
  readonly breaker?: Breaker | undefined;
}

/** A gate as the database knows it in one moment. */
export interface GateState {
  readonly projectId: string;
  readonly gate: string;
  readonly limits: GateLimits;
  /**
   * How many calls hold a slot: those under a lease, those sent to a service that never leases, and runs whose call has ended. The gate of the
   * project counts those of all its gates. The gate of a target counts none.
   */
  readonly running: number;
  /** For the runs whose call has ended: when their slots are free at the latest, in order (lingering-runs.ts). */
  readonly lingersUntilMs: readonly number[];
  /** How many runs of the tool or target began after the time of its breaker was over. */
  readonly trials: number;
  /** How many of them have ended while their services run them. */
  readonly lingeringTrials: number;
  /** When the bucket of the rate is full again; null when it is full. */
  readonly fullAtMs: number | null;
  /** The lane that was served last. */
  readonly lastLane: string;
  /** For the gate of the project: which gate was served last. */
  readonly lastGate: string;
  /** The breaker opened then, and lets a call through for a trial from then on. */
  readonly openedAtMs: number | null;
  readonly openUntilMs: number | null;
  readonly nowMs: number;
}

/** What holds a call back at a gate. */
export type GateBlock = "concurrency" | "rate" | "breaker";

export interface GateRoom {
  /** How many calls may pass now. */
  readonly room: number;
  /** What holds back the next one. */
  readonly blockedBy: GateBlock | undefined;
  /** Milliseconds until the next one may pass, when time alone decides it. */
  readonly nextMs: number | undefined;
}
