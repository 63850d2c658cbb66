// A bus beside the database that carries what the engine sends. PostgreSQL stays the truth: whatever the carrier loses,
// forgets or repeats costs time and nothing else (I13).

import type { CarrierBus, LostMessage } from "@toolplane/bus";
import type { Log } from "../ports/log.ts";

export interface CarrierMeans {
  /** Keeps a message the bus gives up as a dead letter; the bus lets go of it afterwards. */
  bury(lost: LostMessage): Promise<void>;
  readonly log: Log;
}

export interface Carrier {
  /** Called once, when the database has its tables and before `open`: what it refuses ends the start. */
  prepare?(): Promise<void>;
  open(means: CarrierMeans): CarrierBus;
  /** A command nobody has leased after so many seconds is published again, then after twice as many, and so on. */
  readonly republishSeconds?: number | undefined;
  /** How long what a dead process was about to publish waits for another one. */
  readonly relayClaimMs?: number | undefined;
  /** How often durables that no service uses any more are looked for. */
  readonly leftoversEveryMs?: number | undefined;
  /** A pair of project and target that no service has named for so long loses its durable. */
  readonly detachAfterSeconds?: number | undefined;
}

/** Longer than a healthy service takes to come by, short against what a caller waits. */
export const REPUBLISH_SECONDS = 15;
