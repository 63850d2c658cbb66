// The fault port: named moments around every commit and publish. In production a point does nothing; a crash test makes one of
// them end the process, stall it, or fail it, and then counts what is left.

export const FAULT_POINTS = [
  "dispatch:before-read",
  "dispatch:before-commit",
  "dispatch:after-commit",
  "dispatch:before-doorbell",
  "dispatch:after-doorbell",
  "handover:before-telling",
  "handover:after-telling",
  "lease:before-commit",
  "lease:after-commit",
  "heartbeat:before-commit",
  "heartbeat:after-commit",
  "release:before-commit",
  "release:after-commit",
  "settle:before-read",
  "settle:before-commit",
  "settle:after-commit",
  "settle:before-doorbell",
  "settle:after-doorbell",
  "card:before-commit",
  "card:after-commit",
  "cancel:before-commit",
  "cancel:after-commit",
  "approve:before-commit",
  "approve:after-commit",
  "expire:after-read",
  "expire:before-commit",
  "expire:after-commit",
  "publish:before-commit",
  "publish:after-commit",
  "relay:after-claim",
  "relay:after-publish",
  "relay:after-mark",
  "replay:before-commit",
  "replay:after-commit",
  "replay:after-mark",
  "retain:before-commit",
  "retain:after-commit",
] as const;

/** Around the commits of webhooks; only their own tests pass these. */
export const WEBHOOK_FAULT_POINTS = [
  "webhook:before-commit",
  "webhook:after-commit",
  "webhook:before-settle",
  "webhook:after-settle",
] as const;

/** Around the commits of the project manager; only its own crash tests pass these. */
export const BATCH_FAULT_POINTS = [
  "delegate:before-commit",
  "delegate:after-commit",
  "child:before-commit",
  "child:after-commit",
  "join:before-commit",
  "join:after-commit",
  "halt:before-commit",
  "halt:after-commit",
  "batch:before-commit",
  "batch:after-commit",
] as const;

/** Around each transaction of turns, and around their repairs. */
export const TURN_FAULT_POINTS = [
  "spawn:before-commit",
  "spawn:after-commit",
  "advance:before-commit",
  "advance:after-commit",
  "begin:before-commit",
  "begin:after-commit",
  "commit:before-dispatch",
  "commit:before-commit",
  "commit:after-commit",
  "finish:before-commit",
  "finish:after-commit",
  "stop:before-commit",
  "stop:after-commit",
  "reap:before-commit",
  "reap:after-commit",
] as const;

/** With a bus beside the database: around keeping durables and taking back commands. */
export const CARRIER_FAULT_POINTS = [
  "keep:after-ensure",
  "sweep:after-fetch",
  "sweep:after-read",
  "sweep:after-ack",
] as const;

export type FaultPoint =
  | (typeof FAULT_POINTS)[number]
  | (typeof BATCH_FAULT_POINTS)[number]
  | (typeof CARRIER_FAULT_POINTS)[number]
  | (typeof TURN_FAULT_POINTS)[number]
  | (typeof WEBHOOK_FAULT_POINTS)[number];

export interface Faults {
  at(point: FaultPoint): void | Promise<void>;
}

export const noFaults: Faults = { at: () => {} };
