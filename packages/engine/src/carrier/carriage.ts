// An engine's side of its carrier: the bus everybody publishes to, and the relay that carries the outbox on.

import type { Bus } from "@toolplane/bus";
import { createMessageWriter } from "../outbox/message-writer.ts";
import { type RelayStats, relayOutbox } from "../outbox/relay-outbox.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Database } from "../sql/database.ts";
import { createBury } from "./bury-message.ts";
import type { Carrier } from "./carrier.ts";
import { createOutboxBus } from "./outbox-bus.ts";
import { moveOldEvents } from "./take-over.ts";

export interface CarriageOptions {
  readonly carrier: Carrier;
  readonly db: Database;
  readonly doorbell: Doorbell;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: Faults;
}

export interface CarrierStats {
  readonly relay: RelayStats;
}

export interface Carriage {
  readonly bus: Bus;
  stats(): CarrierStats;
  /** Finishes what is on its way to the carrier; the bus is closed by whoever holds it. */
  stop(): Promise<void>;
}

export const createCarriage = (options: CarriageOptions): Carriage => {
  const { carrier, log } = options;
  const carrierBus = carrier.open({ bury: createBury(options), log });
  const bus = createOutboxBus(carrierBus, createMessageWriter(options));
  const relay = relayOutbox({
    ...options,
    bus: carrierBus,
    claimMs: carrier.relayClaimMs,
    prepare: (signal) => moveOldEvents(options.db, signal),
  });
  return {
    bus,
    stats: () => ({ relay: relay.stats() }),
    async stop() {
      await relay.stop();
    },
  };
};
