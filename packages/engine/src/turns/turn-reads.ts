// Views of turns and steps, for people and programs that look.

import { type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { firstIdAt } from "../calls/list-calls.ts";
import { isPossibleId } from "../cards/possible-id.ts";
import { createCoalescer } from "../coalescer/coalescer.ts";
import { parsePage, toPage } from "../registry/page.ts";
import type { Database } from "../sql/database.ts";
import type { ListTurnsRequest, StepView, TurnKey, TurnStatus, Turns, TurnView } from "./turn.ts";
import {
  bindTurnKeys,
  LIST_STEPS,
  LIST_TURNS,
  LIST_TURNS_OF_AGENT,
  LIST_TURNS_OF_ERROR,
  LIST_TURNS_OF_PARENT,
  LIST_TURNS_OF_TRACE,
  READ_TURN_VIEWS,
} from "./turn-reads.sql.ts";
import { type HeadStatus, parseDocument, type TurnRow } from "./turn-row.ts";
import type { TurnWrite } from "./turn-write-rows.sql.ts";

interface ViewRow extends TurnRow {
  readonly ord: number;
  readonly head_status: HeadStatus | null;
  readonly head_epoch: number | null;
  readonly waiting_tool_count: number | null;
  readonly created_at: Date;
  readonly dispatched_at: Date | null;
  readonly ended_at: Date | null;
}

interface StepRow {
  readonly step_id: string;
  readonly agent_id: string;
  readonly agent_turn_id: string;
  readonly status: string;
  readonly tool_call_ids: readonly string[];
  readonly error: string | null;
  readonly metadata: JsonObject;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

const statusOf = (row: ViewRow): TurnStatus =>
  row.status === "active" ? ((row.head_status ?? "dispatched") as TurnStatus) : row.status;

const continuedBy = ({ metadata }: ViewRow): string | null => {
  const { continues } = parseDocument(metadata);
  return typeof continues === "string" ? continues : null;
};

const viewOf = (row: ViewRow): TurnView => ({
  projectId: row.project_id,
  agentTurnId: row.agent_turn_id,
  agentId: row.agent_id,
  kind: row.kind,
  status: statusOf(row),
  turnEpoch: row.head_epoch ?? row.turn_epoch,
  channelId: row.channel_id,
  correlationId: row.correlation_id,
  recursionDepth: row.recursion_depth,
  traceId: row.trace_id,
  sourceAgentId: row.source_agent_id,
  parentAgentId: row.parent_agent_id,
  parentAgentTurnId: row.parent_agent_turn_id,
  parentStepId: row.parent_step_id,
  continues: continuedBy(row),
  profileBoxId: row.profile_box_id,
  contextBoxId: row.context_box_id,
  outputBoxId: row.output_box_id,
  stepCount: row.step_count,
  waitingCount: row.waiting_tool_count ?? 0,
  deliverableCardId: row.deliverable_card_id,
  error: row.error,
  errorCode: row.error_code,
  createdAt: row.created_at.toISOString(),
  dispatchedAt: row.dispatched_at?.toISOString() ?? null,
  endedAt: row.ended_at?.toISOString() ?? null,
  headLost: row.status === "active" && row.head_status === null,
});

/** The turn as a read will find it once this is committed. */
export const viewOfEnd = (turn: TurnRow, end: TurnWrite, nowMs: number): TurnView =>
  viewOf({
    ...turn,
    status: end.status as TurnRow["status"],
    step_count: end.stepCount,
    turn_epoch: end.turnEpoch,
    deliverable_card_id: end.deliverableCardId,
    error: end.error,
    error_code: end.errorCode,
    ord: 0,
    head_status: null,
    head_epoch: null,
    waiting_tool_count: null,
    created_at: new Date(turn.created_ms),
    dispatched_at: turn.dispatched_ms === null ? null : new Date(turn.dispatched_ms),
    ended_at: new Date(nowMs),
  });

/** The first id that a turn can have at this time. */
const turnAt = (ms: number): string => `turn_${firstIdAt(ms)}`;

/** Each of them leads to few turns; no index leads by two. */
const checkOneLead = (leads: readonly (string | undefined)[]): void => {
  if (leads.filter((lead) => lead !== undefined).length > 1)
    throw new ToolplaneError(
      "bad_request",
      "parent_agent_turn_id, trace_id and error_code each lead to few turns: send one of them",
    );
};

export const createTurnReads = (db: Database) => {
  const views = createCoalescer<TurnKey, TurnView | undefined>({
    async flush(keys) {
      const rows = await db.query<ViewRow>(READ_TURN_VIEWS, bindTurnKeys(keys));
      const byOrd = new Map(rows.map((row) => [row.ord, viewOf(row)]));
      return keys.map((_, index) => byOrd.get(index + 1));
    },
  });

  const listRows = (projectId: string, request: ListTurnsRequest, before: string | null, limit: number) => {
    const { status = null, agentId, parentAgentTurnId, traceId, errorCode, sinceMs } = request;
    const from = sinceMs === undefined ? null : turnAt(sinceMs);
    const common = [projectId, before, limit, status, from];
    if (parentAgentTurnId !== undefined)
      return db.query<ViewRow>(LIST_TURNS_OF_PARENT, [...common, parentAgentTurnId, agentId ?? null]);
    if (traceId !== undefined) return db.query<ViewRow>(LIST_TURNS_OF_TRACE, [...common, traceId, agentId ?? null]);
    if (errorCode !== undefined) return db.query<ViewRow>(LIST_TURNS_OF_ERROR, [...common, errorCode, agentId ?? null]);
    if (agentId !== undefined) return db.query<ViewRow>(LIST_TURNS_OF_AGENT, [...common, agentId]);
    return db.query<ViewRow>(LIST_TURNS, common);
  };

  const isAskable = (...ids: (string | undefined)[]): boolean =>
    ids.every((id) => id === undefined || isPossibleId(id));

  const get: Turns["get"] = async (key) => (isAskable(key.projectId, key.agentTurnId) ? views.submit(key) : undefined);

  return {
    views,
    get,
    async list(projectId: string, request: ListTurnsRequest = {}) {
      const { after, limit } = parsePage({ limit: request.limit, cursor: request.cursor });
      const bounds = { after, limit };
      const { agentId, parentAgentTurnId, traceId, errorCode, untilMs } = request;
      if (!isAskable(projectId, agentId, parentAgentTurnId, traceId, errorCode)) return { items: [], cursor: null };
      checkOneLead([parentAgentTurnId, traceId, errorCode]);
      const until = untilMs === undefined ? "" : turnAt(untilMs);
      const before = [after, until].filter((id) => id !== "").sort()[0] ?? null;
      const rows = await listRows(projectId, request, before, limit + 1);
      const page = toPage(rows, bounds, (row) => row.agent_turn_id, viewOf);
      return { items: page.items, cursor: page.nextCursor ?? null };
    },
    async steps(key: TurnKey): Promise<readonly StepView[]> {
      if (!isAskable(key.projectId, key.agentTurnId)) return [];
      const rows = await db.query<StepRow>(LIST_STEPS, [key.projectId, key.agentTurnId]);
      return rows.map((row) => ({
        stepId: row.step_id,
        agentId: row.agent_id,
        agentTurnId: row.agent_turn_id,
        status: row.status,
        toolCallIds: row.tool_call_ids,
        error: row.error,
        metadata: row.metadata,
        startedAt: row.started_at.toISOString(),
        endedAt: row.ended_at?.toISOString() ?? null,
      }));
    },
  };
};
