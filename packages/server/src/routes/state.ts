// What happened and what came of what, as rows: heads, steps, edges. For people; an agent reads its own turns and calls.

import type { ExecutionEdgeRow, HeadStateRow, IdentityEdgeRow, StepStateRow } from "@toolplane/engine";
import { z } from "zod";
import { answerPage } from "../http/answer-page.ts";
import { anyObject, type BodyOf, pageOf, text, textOrNull, time, timeOrNull } from "../http/answers.ts";
import { pageQuery, spanOf, timeQuery, traceIdQuery } from "../http/page-query.ts";
import { PEOPLE, type Route, route } from "../http/route.ts";

const HEAD_STATUSES = ["idle", "dispatched", "running", "suspended"] as const;
const PRIMITIVES = ["enqueue", "join", "tool_call", "report"] as const;
const PHASES = ["request", "response"] as const;

const headShape = z
  .strictObject({
    agent_id: text,
    status: z.enum(HEAD_STATUSES),
    active_agent_turn_id: textOrNull,
    active_channel_id: textOrNull,
    turn_epoch: z.int(),
    active_recursion_depth: z.int(),
    parent_step_id: textOrNull,
    trace_id: textOrNull,
    profile_box_id: textOrNull,
    context_box_id: textOrNull,
    output_box_id: textOrNull,
    waiting_tool_count: z.int(),
    resume_deadline: timeOrNull.meta({
      description:
        "While the agent is suspended: when its turn goes on at the latest, because all it awaits has ended by then.",
    }),
    updated_at: time,
  })
  .meta({ id: "AgentHead" });

const stepShape = z
  .strictObject({
    step_id: text,
    agent_id: text,
    agent_turn_id: text,
    channel_id: text,
    parent_step_id: textOrNull,
    trace_id: textOrNull,
    status: text,
    tool_call_ids: z.array(text),
    error: textOrNull,
    metadata: anyObject,
    started_at: time,
    ended_at: timeOrNull,
  })
  .meta({ id: "Step" });

const edgeFields = {
  edge_id: text,
  channel_id: text,
  source_agent_id: textOrNull,
  target_agent_id: text,
  trace_id: textOrNull,
  parent_step_id: textOrNull,
  metadata: anyObject,
  created_at: time,
};

const executionEdgeShape = z
  .strictObject({
    ...edgeFields,
    primitive: z.enum(PRIMITIVES),
    edge_phase: z.enum(PHASES),
    source_turn_id: textOrNull,
    source_step_id: textOrNull,
    target_turn_id: textOrNull,
    correlation_id: text,
    recursion_depth: z.int(),
  })
  .meta({ id: "ExecutionEdge" });

const identityEdgeShape = z.strictObject({ ...edgeFields, action: text }).meta({ id: "IdentityEdge" });

const headBody = (row: HeadStateRow): BodyOf<typeof headShape> => ({
  ...row,
  status: row.status as (typeof HEAD_STATUSES)[number],
  resume_deadline: row.resume_deadline?.toISOString() ?? null,
  updated_at: row.updated_at.toISOString(),
});

const stepBody = (row: StepStateRow): BodyOf<typeof stepShape> => ({
  ...row,
  started_at: row.started_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
});

const executionEdgeBody = (row: ExecutionEdgeRow): BodyOf<typeof executionEdgeShape> => ({
  ...row,
  primitive: row.primitive as (typeof PRIMITIVES)[number],
  edge_phase: row.edge_phase as (typeof PHASES)[number],
  created_at: row.created_at.toISOString(),
});

const identityEdgeBody = (row: IdentityEdgeRow): BodyOf<typeof identityEdgeShape> => ({
  ...row,
  created_at: row.created_at.toISOString(),
});

const id = z.string().min(1).max(128).optional();

export const stateRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/state/agents",
    roles: PEOPLE,
    gives: "work",
    summary: "What each agent does now: its status, its turn, and how many calls it waits for.",
    query: pageQuery.extend({ channel_id: id, status: z.enum(HEAD_STATUSES).optional() }),
    answers: { 200: pageOf(headShape) },
    handle: async (call) => {
      const { channel_id: channelId, ...asked } = call.query;
      const page = await call.engine.lineage.heads(call.params.project ?? "", { ...asked, channelId });
      return answerPage(call, page.items.map(headBody), page.nextCursor);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/state/steps",
    roles: PEOPLE,
    gives: "work",
    summary:
      "Steps, those of the newest turn first; `limit` counts turns, and the steps of a turn come together. `channel_id`, `step_id`, `parent_step_id` and `status` choose among the steps of a page: go on while there is a cursor.",
    query: pageQuery.extend({
      agent_turn_id: id,
      agent_id: id,
      trace_id: traceIdQuery,
      channel_id: id,
      step_id: id,
      parent_step_id: id,
      status: id,
      ...timeQuery,
    }),
    answers: { 200: pageOf(stepShape) },
    handle: async (call) => {
      const { limit, cursor, agent_turn_id: agentTurnId, agent_id: agentId, trace_id: traceId, status } = call.query;
      const { channel_id: channelId, step_id: stepId, parent_step_id: parentStepId } = call.query;
      const chosen = { channelId, stepId, parentStepId, status };
      const asked = { limit, cursor, agentTurnId, agentId, traceId, ...chosen, ...spanOf(call.query) };
      const page = await call.engine.lineage.steps(call.params.project ?? "", asked);
      return answerPage(call, page.items.map(stepBody), page.nextCursor);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/state/execution/edges",
    roles: PEOPLE,
    gives: "work",
    summary:
      "What asked for what, newest first: turns, calls and batches, with their answers. All filters but `agent_id` and times choose among the edges of a page: go on while there is a cursor.",
    query: pageQuery.extend({
      agent_id: id,
      channel_id: id,
      trace_id: traceIdQuery,
      parent_step_id: id,
      correlation_id: id,
      primitive: z.enum(PRIMITIVES).optional(),
      edge_phase: z.enum(PHASES).optional(),
      ...timeQuery,
    }),
    answers: { 200: pageOf(executionEdgeShape) },
    handle: async (call) => {
      const { limit, cursor, agent_id: agentId, primitive, edge_phase: edgePhase } = call.query;
      const { channel_id: channelId, trace_id: traceId, parent_step_id: parentStepId } = call.query;
      const chosen = {
        primitive,
        edgePhase,
        channelId,
        traceId,
        parentStepId,
        correlationId: call.query.correlation_id,
      };
      const asked = { limit, cursor, agentId, ...chosen, ...spanOf(call.query) };
      const page = await call.engine.lineage.executionEdges(call.params.project ?? "", asked);
      return answerPage(call, page.items.map(executionEdgeBody), page.nextCursor);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/state/identity/edges",
    roles: PEOPLE,
    gives: "work",
    summary: "Which agent made or changed which agent.",
    query: pageQuery.extend({
      agent_id: id,
      action: id,
      channel_id: id,
      trace_id: traceIdQuery,
      parent_step_id: id,
      owner_agent_id: id,
      worker_target: id,
      tag: id,
    }),
    answers: { 200: pageOf(identityEdgeShape) },
    handle: async (call) => {
      const { limit, cursor, agent_id: agentId, action, channel_id: channelId, trace_id: traceId, tag } = call.query;
      const { parent_step_id: parentStepId, owner_agent_id: ownerAgentId, worker_target: workerTarget } = call.query;
      const asked = {
        limit,
        cursor,
        agentId,
        action,
        channelId,
        traceId,
        parentStepId,
        ownerAgentId,
        workerTarget,
        tag,
      };
      const page = await call.engine.lineage.identityEdges(call.params.project ?? "", asked);
      return answerPage(call, page.items.map(identityEdgeBody), page.nextCursor);
    },
  }),
];
