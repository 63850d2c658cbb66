// How a service reaches the scripted plane: the variables it needs, how calls are given out, how fetching work is made to fail.
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
  /** How long a service may wait on an unanswered request for work. */
  claimMs(): number;
  /** Takes back what was not taken. */
  clear(): Promise<void>;
  close(): Promise<void>;
}
