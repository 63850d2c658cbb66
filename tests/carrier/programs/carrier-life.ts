// One life of one process that carries an outbox to a nats-server. Its argument says where both are, and where it dies.

import { createNatsBus, openNatsLink } from "@toolplane/bus/nats";
import { createEngine, silentLog } from "@toolplane/engine";
import type { FaultPoint } from "@toolplane/engine/internal";
import { createPlannedFaults } from "@toolplane/testkit";

export interface LifeConfig {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly projectId: string;
  readonly point: FaultPoint;
  /** How many calls it claims: what the sweeper has to take back. */
  readonly claims: number;
  readonly relayClaimMs: number;
}

const config = JSON.parse(process.argv[2] ?? "{}") as LifeConfig;
const { projectId } = config;
const faults = createPlannedFaults([{ point: config.point, hit: 1, act: "kill" }], {
  dying: () => {},
  stalling: () => {},
});
const link = await openNatsLink({ url: config.natsUrl, name: "victim" }, { log: silentLog });
const engine = await createEngine({
  connection: { connectionString: config.databaseUrl },
  watchdog: false,
  leaseSeconds: 600,
  faults,
  carrier: { open: ({ bury, log }) => createNatsBus({ link, bury, log }), relayClaimMs: config.relayClaimMs },
});
if (config.claims > 0) await engine.calls.claim({ projectId, target: "test", holder: "victim", max: config.claims });
// It is killed at its point; a test ends it if it never comes there.
await new Promise(() => setInterval(() => {}, 60_000));
