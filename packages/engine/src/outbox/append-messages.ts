// The outbox: messages written in the transaction that causes them (I3). They are sent after it commits and only then. On the
// postgres bus the row is also the place in the queue; elsewhere a relay carries it.

import { type BusMessage, checkMessage } from "@toolplane/bus";
import type { Queryer } from "../sql/database.ts";
import { INSERT_MESSAGES, type MessageRow, messageInput } from "./messages.sql.ts";

/** The row of a message; refuses messages that no bus may carry. */
export const planMessageRow = (message: BusMessage): MessageRow => {
  const { category, projectId, component, target } = checkMessage(message);
  return {
    category,
    projectId,
    subject: message.subject,
    component,
    target,
    headers: JSON.stringify(message.headers),
    payload: message.payload,
    messageId: message.messageId ?? null,
  };
};

export const insertMessageRows = async (tx: Queryer, rows: readonly MessageRow[]): Promise<number> => {
  if (rows.length === 0) return 0;
  const [row] = await tx.query<{ written: number }>(INSERT_MESSAGES, messageInput.bind(rows));
  return row?.written ?? 0;
};
