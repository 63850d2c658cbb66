// What the parts of the engine stand on. A part names the ports it uses: `Pick<Ground, "db" | "clock">`.

import type { Sha256 } from "../calls/turn-chain.ts";
import type { Database } from "../sql/database.ts";
import type { Clock } from "./clock.ts";
import type { Doorbell } from "./doorbell.ts";
import type { Faults } from "./faults.ts";
import type { Ids } from "./ids.ts";
import type { Log } from "./log.ts";

export interface Ground {
  readonly db: Database;
  readonly doorbell: Doorbell;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: Faults;
  readonly sha256: Sha256;
}
