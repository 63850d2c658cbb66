// Writes a message into the outbox alone, as a transaction of the engine writes it together with its cause.

import type { BusMessage } from "@toolplane/bus";
import type { Queryer } from "@toolplane/engine";
import { insertMessageRows, planMessageRow } from "@toolplane/engine/internal";

/** Returns how many were new. All are checked before any is written. */
export const appendMessages = async (tx: Queryer, messages: readonly BusMessage[]): Promise<number> =>
  insertMessageRows(tx, messages.map(planMessageRow));
