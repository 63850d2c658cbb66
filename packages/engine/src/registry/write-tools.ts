// Puts definitions in force: the rows of their tools, and what the limits of a definition mean for calls that are open already and for what
// was counted for earlier limits.

import { bindKept, bindLimited, FORGET_LIMITS, type KeptRow, READ_KEPT } from "../gates/breakers.sql.ts";
import type { GateLimits } from "../gates/gate.ts";
import { fillMs } from "../gates/plan-room.ts";
import type { Queryer } from "../sql/database.ts";
import { GATE_CALLS } from "./late-calls.sql.ts";
import type { LateCalls } from "./late-calls.ts";
import { bindToolWrites, type ToolWrite, WRITE_TOOLS } from "./tools.sql.ts";

const limitedOf = ({ toolName, limits }: ToolWrite) => {
  const { rate } = JSON.parse(limits ?? "{}") as GateLimits;
  return { toolName, limits, fillSeconds: rate === undefined ? null : fillMs(rate) / 1_000 };
};

export const writeTools = async (
  tx: Queryer,
  writes: readonly ToolWrite[],
  projectId: string,
  late: Pick<LateCalls, "gateTools">,
): Promise<void> => {
  if (writes.length === 0) return;
  const kept = await tx.query<KeptRow>(READ_KEPT, bindLimited(writes.map(limitedOf), projectId));
  await tx.query(WRITE_TOOLS, bindToolWrites(writes, projectId));
  const limited = writes.filter(({ limits }) => limits !== null).map(({ toolName }) => toolName);
  if (limited.length > 0) await tx.query(GATE_CALLS, [projectId, limited]);
  if (kept.length > 0) await tx.query(FORGET_LIMITS, bindKept(kept, projectId));
  if (limited.length > 0) await tx.afterCommit(() => late.gateTools(projectId, limited));
};
