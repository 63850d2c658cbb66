// Batches as people and programs read them.

import { isPossibleId } from "../cards/possible-id.ts";
import { type Page, type PageRequest, parsePage, toPage } from "../registry/page.ts";
import type { Queryer } from "../sql/database.ts";
import type { BatchKey, BatchStatus } from "./batch.ts";
import { LIST_BATCHES, type ListedBatchRow, READ_LISTED_BATCH } from "./batches.sql.ts";

export interface ListedBatch extends BatchKey {
  readonly status: BatchStatus;
  /** The call that waits for it, and whose call that is. */
  readonly parentToolCallId: string;
  readonly parentAgentId: string;
  readonly parentAgentTurnId: string;
  readonly failFast: boolean;
  readonly deadlineAt: string;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly tasks: number;
  readonly openTasks: number;
}

export interface BatchReads {
  /** Newest first. */
  list(projectId: string, page?: PageRequest): Promise<Page<ListedBatch>>;
  find(key: BatchKey): Promise<ListedBatch | undefined>;
}

const listedOf = (projectId: string, row: ListedBatchRow): ListedBatch => ({
  projectId,
  batchId: row.batch_id,
  status: row.status as BatchStatus,
  parentToolCallId: row.parent_tool_call_id,
  parentAgentId: row.parent_agent_id,
  parentAgentTurnId: row.parent_agent_turn_id,
  failFast: row.fail_fast,
  deadlineAt: row.deadline_at.toISOString(),
  createdAt: row.created_at.toISOString(),
  endedAt: row.ended_at?.toISOString() ?? null,
  tasks: row.tasks,
  openTasks: row.open_tasks,
});

export const createBatchReads = (db: Queryer): BatchReads => ({
  async list(projectId, request = {}) {
    const page = parsePage(request);
    if (!isPossibleId(projectId)) return { items: [] };
    const before = page.after === "" ? null : page.after;
    const rows = await db.query<ListedBatchRow>(LIST_BATCHES, [projectId, before, page.limit + 1]);
    return toPage(
      rows,
      page,
      (row) => row.batch_id,
      (row) => listedOf(projectId, row),
    );
  },
  async find({ projectId, batchId }) {
    if (!isPossibleId(projectId) || !isPossibleId(batchId)) return undefined;
    const [row] = await db.query<ListedBatchRow>(READ_LISTED_BATCH, [projectId, batchId]);
    return row === undefined ? undefined : listedOf(projectId, row);
  },
});
