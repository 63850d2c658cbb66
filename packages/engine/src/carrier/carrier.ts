// A bus beside the database that carries what the engine sends. PostgreSQL stays the truth: when the carrier loses or repeats
// something, that costs time and nothing else (I13).

import type { CarrierBus, LostMessage } from "@toolplane/bus";
import type { Log } from "../ports/log.ts";

export interface CarrierMeans {
  /** Stores a message that the bus gives up as a dead letter; the bus removes it afterwards. */
  bury(lost: LostMessage): Promise<void>;
  readonly log: Log;
}

export interface Carrier {
  /** Called once, when the database has its tables and before `open`; an error ends the start. */
  prepare?(): Promise<void>;
  open(means: CarrierMeans): CarrierBus;
  /** A command that no service has leased after so many seconds is published again, then after twice as many, and so on. */
  readonly republishSeconds?: number | undefined;
  /** How long messages that a dead process had claimed wait for another process. */
  readonly relayClaimMs?: number | undefined;
  /** How often durables that no service uses any more are looked for. */
  readonly leftoversEveryMs?: number | undefined;
  /** A pair of project and target that no service has named for so long loses its durable. */
  readonly detachAfterSeconds?: number | undefined;
}

/** Longer than a healthy service takes to fetch, and short compared with a caller's wait. */
export const REPUBLISH_SECONDS = 15;
