// Whether the command of a call is still in the outbox, and how often the relay has tried to send it.

import type { Queryer } from "../sql/database.ts";
import { READ_WAITING_COMMAND, type WaitingCommandRow } from "./waiting-command.sql.ts";

export interface WaitingCommand {
  readonly tries: number;
  /** When the relay tries it next. */
  readonly dueAt: Date;
}

interface OwnCall {
  readonly projectId: string;
  readonly toolCallId: string;
  readonly subject: string;
  readonly target: string;
}

/** The place of the component in a subject. */
const COMPONENT = 5;

export const readWaitingCommand = async (
  db: Queryer,
  { projectId, toolCallId, subject, target }: OwnCall,
): Promise<WaitingCommand | undefined> => {
  const asked = [projectId, subject.split(".")[COMPONENT] ?? "", target, toolCallId];
  const [row] = await db.query<WaitingCommandRow>(READ_WAITING_COMMAND, asked);
  return row === undefined ? undefined : { tries: row.tries, dueAt: row.due_at };
};
