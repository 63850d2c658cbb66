// Puts definitions in force: the rows of their tools, and what the limits of a definition mean for calls that are open already.

import type { Queryer } from "../sql/database.ts";
import { bindToolWrites, GATE_CALLS, type ToolWrite, WRITE_TOOLS } from "./tools.sql.ts";

export const writeTools = async (tx: Queryer, writes: readonly ToolWrite[], projectId: string): Promise<void> => {
  if (writes.length === 0) return;
  await tx.query(WRITE_TOOLS, bindToolWrites(writes, projectId));
  const limited = writes.filter(({ limits }) => limits !== null).map(({ toolName }) => toolName);
  if (limited.length > 0) await tx.query(GATE_CALLS, [projectId, limited]);
};
