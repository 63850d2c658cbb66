// Batches: work that one call split among several agents.

import type { BatchView, ListedBatch } from "@toolplane/engine";
import { RESULT_STATUSES, showName, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { answerPage } from "../http/answer-page.ts";
import { anyObject, type BodyOf, pageOf, text, textOrNull, time, timeOrNull } from "../http/answers.ts";
import { pageQuery } from "../http/page-query.ts";
import { PEOPLE, type Route, route } from "../http/route.ts";

const batchShape = z
  .strictObject({
    batch_id: text,
    status: z.enum(["running", "success", "partial", "failed", "timeout"]),
    tool_call_id: text.meta({ description: "The call that waits for the batch." }),
    agent_id: text,
    agent_turn_id: text,
    fail_fast: z.boolean(),
    deadline_at: time,
    created_at: time,
    ended_at: timeOrNull,
    task_count: z.int(),
    open_task_count: z.int(),
  })
  .meta({ id: "Batch" });

const taskShape = z.strictObject({
  task_index: z.int(),
  status: z.enum(["pending", "dispatched", ...RESULT_STATUSES]),
  agent_id: text,
  agent_turn_id: textOrNull,
  output_box_id: textOrNull,
  attempts: z.int(),
  error: textOrNull,
  result_view: anyObject.nullable(),
});

const batchBody = (batch: ListedBatch): BodyOf<typeof batchShape> => ({
  batch_id: batch.batchId,
  status: batch.status,
  tool_call_id: batch.parentToolCallId,
  agent_id: batch.parentAgentId,
  agent_turn_id: batch.parentAgentTurnId,
  fail_fast: batch.failFast,
  deadline_at: batch.deadlineAt,
  created_at: batch.createdAt,
  ended_at: batch.endedAt,
  task_count: batch.tasks,
  open_task_count: batch.openTasks,
});

const taskBody = (task: BatchView["tasks"][number]): BodyOf<typeof taskShape> => ({
  task_index: task.taskIndex,
  status: task.status,
  agent_id: task.agentId,
  agent_turn_id: task.agentTurnId,
  output_box_id: task.outputBoxId,
  attempts: task.attempts,
  error: task.error,
  result_view: task.resultView,
});

export const batchRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/batches",
    roles: PEOPLE,
    gives: "work",
    summary: "Batches of `fork_join`, newest first.",
    query: pageQuery,
    answers: { 200: pageOf(batchShape) },
    handle: async (call) => {
      const { items, nextCursor } = await call.engine.batchReads.list(call.params.project ?? "", call.query);
      return answerPage(call, items.map(batchBody), nextCursor);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/batches/:batch",
    roles: PEOPLE,
    gives: "work",
    summary: "One batch with its tasks.",
    answers: { 200: batchShape.extend({ tasks: z.array(taskShape) }).meta({ id: "BatchDetail" }) },
    handle: async ({ engine, params, reply }) => {
      const key = { projectId: params.project ?? "", batchId: params.batch ?? "" };
      const listed = await engine.batchReads.find(key);
      const batch = listed && (await engine.batches.get(key));
      if (listed === undefined || batch === undefined)
        throw new ToolplaneError("not_found", `there is no batch ${showName(key.batchId)} in this project`);
      return reply(200, { ...batchBody(listed), tasks: batch.tasks.map(taskBody) });
    },
  }),
];
