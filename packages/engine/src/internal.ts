// @toolplane/engine/internal: what the test kit, the tests and the measurements of this repository need beyond the public face.
// Nothing here is a stable interface; shipped code of other packages may not import it.

export { createEventLog } from "./bus/event-log.ts";
export { trimMessages } from "./bus/message-retention.ts";
export { createPostgresBus } from "./bus/postgres-bus.ts";
export { createPostgresDoorbell } from "./bus/postgres-doorbell.ts";
export type { Dispatched } from "./calls/call-request.ts";
export { type DispatchRow, dispatchOfNew } from "./calls/dispatch.sql.ts";
export { type SettleRow, settlementOf } from "./calls/settle.sql.ts";
export type { Carried } from "./carrier/carriage.ts";
export type { CarrierMeans } from "./carrier/carrier.ts";
export { createHistory } from "./history/history.ts";
export type { Verdict } from "./history/plan-verdict.ts";
export { insertMessageRows, planMessageRow } from "./outbox/append-messages.ts";
export { type RelayOptions, relayOutbox } from "./outbox/relay-outbox.ts";
export { stuckMessages, whyStuck } from "./outbox/stuck-messages.ts";
export type { RingOrigin } from "./ports/doorbell.ts";
export {
  BATCH_FAULT_POINTS,
  CARRIER_FAULT_POINTS,
  FAULT_POINTS,
  type FaultPoint,
  type Faults,
  noFaults,
  TURN_FAULT_POINTS,
  WEBHOOK_FAULT_POINTS,
} from "./ports/faults.ts";
export { createDatabase, type Database, type Part, type Statement } from "./sql/database.ts";
export { migrate, readMigrations } from "./sql/migrate.ts";
export type { ThreadTask } from "./threads/threads.ts";
export type { Place } from "./turns/agent-bells.ts";
export type { CommittedCall, SpawnRequest, TurnEnd } from "./turns/turn.ts";
export { writeStatement } from "./turns/write-turns.sql.ts";
