// What happened and what came of what, as rows: agents' heads, steps, and the edges between turns and calls.
//   - Steps come by their turns, newest turn first: a page has the steps of so many turns.
//   - The edges of a call are the call itself (`tool_call` when it was made, `report` when it settled), so they are made from it; the
//     edges of turns (`enqueue`) and batches (`join`) are stored. A page has the edges of so many calls, turns and batches.
//   - A page is looked up by project, agent, turn, trace and time. Other filters choose among what it has, so a page costs the same
//     whatever is asked for, and may have fewer rows, or none, before the last page.

import type { BatchReads } from "../batches/batch-reads.ts";
import type { CallView } from "../calls/call.ts";
import type { Calls } from "../calls/calls.ts";
import { isPossibleId } from "../cards/possible-id.ts";
import { cursorOf, keyOfCursor, type Page, type PageRequest, parsePage, toPage } from "../registry/page.ts";
import type { Queryer } from "../sql/database.ts";
import type { ListTurnsRequest, Turns } from "../turns/turn.ts";
import {
  type ExecutionEdgeRow,
  type HeadStateRow,
  type IdentityEdgeRow,
  LIST_HEADS,
  LIST_IDENTITY_EDGES,
  READ_EDGES,
  STEPS_OF_TURNS,
  type StepStateRow,
} from "./lineage.sql.ts";

export type { ExecutionEdgeRow, HeadStateRow, IdentityEdgeRow, StepStateRow } from "./lineage.sql.ts";

export interface HeadsRequest extends PageRequest {
  readonly channelId?: string | undefined;
  readonly status?: string | undefined;
}

export interface StepsRequest
  extends Pick<ListTurnsRequest, "agentId" | "traceId" | "sinceMs" | "untilMs">,
    PageRequest {
  readonly agentTurnId?: string | undefined;
  readonly channelId?: string | undefined;
  readonly stepId?: string | undefined;
  readonly parentStepId?: string | undefined;
  readonly status?: string | undefined;
}

export interface EdgesRequest extends PageRequest {
  readonly agentId?: string | undefined;
  readonly channelId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly parentStepId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly primitive?: "enqueue" | "join" | "tool_call" | "report" | undefined;
  readonly edgePhase?: "request" | "response" | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

export interface IdentityEdgesRequest extends PageRequest {
  readonly agentId?: string | undefined;
  readonly action?: string | undefined;
  readonly channelId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly parentStepId?: string | undefined;
  /** Of the agent, as it was made or changed then. */
  readonly ownerAgentId?: string | undefined;
  readonly workerTarget?: string | undefined;
  readonly tag?: string | undefined;
}

export interface Lineage {
  heads(projectId: string, request?: HeadsRequest): Promise<Page<HeadStateRow>>;
  steps(projectId: string, request?: StepsRequest): Promise<Page<StepStateRow>>;
  executionEdges(projectId: string, request?: EdgesRequest): Promise<Page<ExecutionEdgeRow>>;
  identityEdges(projectId: string, request?: IdentityEdgesRequest): Promise<Page<IdentityEdgeRow>>;
}

export interface LineageDeps {
  readonly db: Queryer;
  readonly calls: Pick<Calls, "list">;
  readonly turns: Pick<Turns, "list">;
  readonly batches: BatchReads;
}

/** An edge and the id that says when it began: of its call, its turn or its batch. */
interface Placed {
  readonly at: string;
  readonly edge: ExecutionEdgeRow;
}

const edgesOfCall = (call: CallView): readonly Placed[] => {
  const shared = {
    channel_id: call.channelId,
    target_agent_id: call.agentId,
    target_turn_id: call.agentTurnId,
    correlation_id: call.toolCallId,
    recursion_depth: call.recursionDepth,
    trace_id: call.traceId,
    parent_step_id: call.lineage.parent_step_id ?? null,
  };
  const asked: ExecutionEdgeRow = {
    ...shared,
    edge_id: `edge_${call.toolCallId}_req`,
    primitive: "tool_call",
    edge_phase: "request",
    source_agent_id: call.agentId,
    source_turn_id: call.agentTurnId,
    source_step_id: call.stepId,
    metadata: { subject: call.subject, tool_name: call.toolName },
    created_at: call.createdAt,
  };
  if (call.settledAt === null) return [{ at: call.toolCallId, edge: asked }];
  const answered: ExecutionEdgeRow = {
    ...shared,
    edge_id: `edge_${call.toolCallId}_res`,
    primitive: "report",
    edge_phase: "response",
    source_agent_id: call.settledBy,
    source_turn_id: null,
    source_step_id: null,
    metadata: { tool_result_card_id: call.resultCardId, status: call.status },
    created_at: call.settledAt,
  };
  return [answered, asked].map((edge) => ({ at: call.toolCallId, edge }));
};

/** Whether a row has all the values that are asked for. */
const has = <Row extends object>(wanted: Partial<Record<keyof Row, unknown>>): ((row: Row) => boolean) => {
  const asked = (Object.entries(wanted) as [keyof Row, unknown][]).filter(([, value]) => value !== undefined);
  return (row) => asked.every(([column, value]) => row[column] === value);
};

const TURN = "turn_";
const BATCH = "batch_";

const cursorBefore = (prefix: string, before: string | undefined): string | undefined =>
  before === undefined ? undefined : cursorOf(`${prefix}${before}`);

/**
 * Pure: the edges of the newest places, at most so many; those of one place stay together. `places` are all that were looked at, also
 * those without an edge: a page goes on behind the last of them.
 */
export const planEdgePage = (
  all: readonly Placed[],
  places: readonly string[],
  limit: number,
): Page<ExecutionEdgeRow> => {
  const sorted = [...all].sort((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
  const last = [...new Set(places)].sort().reverse()[limit - 1];
  if (last === undefined) return { items: sorted.map(({ edge }) => edge) };
  return { items: sorted.filter(({ at }) => at >= last).map(({ edge }) => edge), nextCursor: cursorOf(last) };
};

export const createLineage = ({ db, calls, turns, batches }: LineageDeps): Lineage => {
  const placeOf = (edgeId: string): string => edgeId.replace(/^edge_(?:turn_|batch_)/, "").replace(/_re[qs]$/, "");

  const stored = async (projectId: string, edgeIds: readonly string[]): Promise<readonly Placed[]> => {
    if (edgeIds.length === 0) return [];
    const rows = await db.query<ExecutionEdgeRow>(READ_EDGES, [projectId, edgeIds]);
    return rows.map((edge) => ({ at: placeOf(edge.edge_id), edge }));
  };

  return {
    async heads(projectId, request = {}) {
      const page = parsePage(request);
      if (!isPossibleId(projectId)) return { items: [] };
      const values = [projectId, page.after, page.limit + 1, request.channelId ?? null, request.status ?? null];
      const rows = await db.query<HeadStateRow>(LIST_HEADS, values);
      return toPage(
        rows,
        page,
        (row) => row.agent_id,
        (row) => row,
      );
    },
    async steps(projectId, { agentTurnId, channelId, stepId, parentStepId, status, ...request } = {}) {
      const isWanted = has<StepStateRow>({
        channel_id: channelId,
        step_id: stepId,
        parent_step_id: parentStepId,
        status,
      });
      const read = async (ids: readonly string[]): Promise<readonly StepStateRow[]> =>
        ids.length === 0 ? [] : (await db.query<StepStateRow>(STEPS_OF_TURNS, [projectId, ids])).filter(isWanted);
      if (agentTurnId !== undefined)
        return { items: isPossibleId(projectId) && isPossibleId(agentTurnId) ? await read([agentTurnId]) : [] };
      const { items, cursor } = await turns.list(projectId, request);
      const steps = await read(items.map((turn) => turn.agentTurnId));
      return { items: steps, ...(cursor === null ? {} : { nextCursor: cursor }) };
    },
    async executionEdges(projectId, request = {}) {
      const { limit, after } = parsePage(request);
      const before = after === "" ? undefined : after;
      const { agentId, primitive, edgePhase, sinceMs, untilMs, channelId, traceId, parentStepId, correlationId } =
        request;
      if (!isPossibleId(projectId)) return { items: [] };
      const wants = (...words: readonly string[]): boolean => primitive === undefined || words.includes(primitive);
      const span = { agentId, sinceMs, untilMs, limit };
      const found: Placed[] = [];
      const places: string[] = [];
      if (wants("tool_call", "report")) {
        const views = await calls.list(projectId, { ...span, before });
        places.push(...views.map(({ toolCallId }) => toolCallId));
        found.push(...views.flatMap(edgesOfCall));
      }
      if (wants("enqueue")) {
        const page = await turns.list(projectId, { ...span, cursor: cursorBefore(TURN, before) });
        const ids = page.items.map((turn) => `edge_${turn.agentTurnId}`);
        places.push(...ids.map(placeOf));
        found.push(...(await stored(projectId, ids)));
      }
      if (wants("join")) {
        const page = await batches.list(projectId, { limit, cursor: cursorBefore(BATCH, before) });
        const own = page.items.filter((batch) => agentId === undefined || batch.parentAgentId === agentId);
        const ids = own.flatMap(({ batchId }) => [`edge_${batchId}_req`, `edge_${batchId}_res`]);
        places.push(...page.items.map(({ batchId }) => placeOf(`edge_${batchId}_req`)));
        found.push(...(await stored(projectId, ids)));
      }
      const page = planEdgePage(found, places, limit);
      const isWanted = has<ExecutionEdgeRow>({
        primitive,
        edge_phase: edgePhase,
        channel_id: channelId,
        trace_id: traceId,
        parent_step_id: parentStepId,
        correlation_id: correlationId,
      });
      return { ...page, items: page.items.filter(isWanted) };
    },
    async identityEdges(projectId, request = {}) {
      const page = parsePage(request);
      if (!isPossibleId(projectId)) return { items: [] };
      const before = request.cursor === undefined ? null : keyOfCursor(request.cursor);
      const { agentId, action, channelId, traceId, parentStepId, ownerAgentId, workerTarget, tag } = request;
      const wanted = [agentId, action, channelId, traceId, parentStepId, ownerAgentId, workerTarget, tag];
      const values = [projectId, before, page.limit + 1, ...wanted.map((value) => value ?? null)];
      const rows = await db.query<IdentityEdgeRow>(LIST_IDENTITY_EDGES, values);
      return toPage(
        rows,
        page,
        (row) => row.edge_id,
        (row) => row,
      );
    },
  };
};
