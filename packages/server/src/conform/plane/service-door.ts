// Where a service finds the scripted plane: what it has to be told, how calls are given out, how fetching work is made to fail.
// One door per transport.

import type { Connection } from "../launch-command.ts";
import type { PlannedCall } from "../planned-call.ts";

export interface ServiceDoor {
  readonly connection: Connection;
  /** Gives the calls out together, as far as the service takes them at once. */
  give(batch: readonly PlannedCall[]): void;
  /** Grows whenever the service shows that it is there and wants work. */
  arrivals(): number;
  /** Makes asking for work fail; resolves when the trouble is arranged. */
  breakClaims(): Promise<void>;
  /** The trouble is over, and as far as it can be told the service asks again. */
  areClaimsBack(): boolean;
  /** How long an unanswered question for work may keep a service waiting. */
  claimMs(): number;
  /** Takes back what nobody has taken. */
  clear(): Promise<void>;
  close(): Promise<void>;
}
