// How a tool did, over all its calls that are kept, up to a bound.

import type { Queryer } from "../sql/database.ts";
import { READ_USAGE, READ_USAGE_ERRORS, type UsageErrorRow, type UsageRow } from "./tool-usage.sql.ts";

export interface ToolUsage {
  readonly ended: number;
  /** Of those that ended: failed or timed out. */
  readonly failed: number;
  /** Queued, running or waiting for a person. */
  readonly open: number;
  /** True: the tool has more calls than are counted, and the oldest are left out. */
  readonly isCut: boolean;
  /** When the oldest of the counted calls was made; undefined when none ended. */
  readonly since: Date | undefined;
  /** From the request to the end: half of the calls took at most this long, and 95 of 100 at most that long. */
  readonly medianMs: number | undefined;
  readonly slowMs: number | undefined;
  readonly errors: readonly UsageErrorRow[];
}

/** About 100 ms of the database. */
const MAX_CALLS = 100_000;

export const createToolUsage =
  (db: Queryer) =>
  async (projectId: string, toolName: string): Promise<ToolUsage> => {
    const asked = [projectId, toolName, MAX_CALLS];
    const [row] = await db.query<UsageRow>(READ_USAGE, asked);
    const errors = (row?.ended ?? 0) === 0 ? [] : await db.query<UsageErrorRow>(READ_USAGE_ERRORS, asked);
    return {
      ended: row?.ended ?? 0,
      failed: row?.failed ?? 0,
      open: row?.open ?? 0,
      isCut: (row?.ended ?? 0) >= MAX_CALLS,
      since: row?.since ?? undefined,
      medianMs: row?.median_ms ?? undefined,
      slowMs: row?.slow_ms ?? undefined,
      errors,
    };
  };
