// What the limits of a project do now, and how a tool did: numbers for people who look.

import { type LimitState, noTool, type ToolUsage } from "@toolplane/engine";
import { z } from "zod";
import { answerList } from "../http/answer-list.ts";
import { anyObject, type BodyOf, pageOf, text, textOrNull, timeOrNull } from "../http/answers.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { pageOfKnown, pageQuery } from "../http/page-query.ts";
import { PEOPLE, type Route, route } from "../http/route.ts";

const limitShape = z
  .strictObject({
    tool_name: textOrNull.meta({ description: "Null without a target: the limits of the project itself." }),
    target: textOrNull.meta({ description: "The breaker of this target." }),
    limits: anyObject,
    running: z.int().meta({ description: "Calls that run now. Of a target: its trials." }),
    lingering: z.int().meta({
      description:
        "How many of `running` are calls that were canceled, stopped or out of time while a service ran them. They hold their slots until the service says that the run is over, or its lease has lapsed.",
    }),
    waiting: z.int().meta({ description: "Of the project: the calls that count in its `queue`." }),
    held_by: z.enum(["concurrency", "rate", "breaker"]).nullable().meta({
      description:
        "What delays a call now; null: nothing does. `rate` and `queue` of a project refuse calls and are not named here.",
    }),
    next_at: timeOrNull.meta({
      description:
        "When time alone lets the next call start, at the latest. Null: nothing holds it, or a slot or a trial has to end first.",
    }),
    breaker_opened_at: timeOrNull.meta({ description: "Since then the breaker is open. Null: it is closed." }),
  })
  .meta({ id: "Limit" });

const limitBody = (state: LimitState): BodyOf<typeof limitShape> => ({
  tool_name: state.toolName ?? null,
  target: state.target ?? null,
  limits: { ...state.limits },
  running: state.running,
  lingering: state.lingering,
  waiting: state.waiting,
  held_by: state.heldBy ?? null,
  next_at: state.nextAt?.toISOString() ?? null,
  breaker_opened_at: state.openedAt?.toISOString() ?? null,
});

const openCallsShape = z.strictObject({
  open: z.int(),
  share: z.int().meta({
    description:
      "So many open calls the project may have now: as many as the plane has places left, and at least 1 in 200 of them.",
  }),
  places: z.int().meta({ description: "Of the whole plane, for the open calls of all projects." }),
});

const limitsPage = pageOf(limitShape).extend({ open_calls: openCallsShape });

const usageShape = z
  .strictObject({
    tool_name: text,
    ended: z.int(),
    failed: z.int(),
    open: z.int(),
    is_cut: z
      .boolean()
      .meta({ description: "True: the tool has more calls than are counted; the oldest are left out." }),
    since: timeOrNull,
    median_ms: z.number().nullable(),
    p95_ms: z.number().nullable(),
    errors: z.array(z.strictObject({ code: text, calls: z.int() })),
  })
  .meta({ id: "ToolUsage" });

const usageBody = (toolName: string, usage: ToolUsage): BodyOf<typeof usageShape> => ({
  tool_name: toolName,
  ended: usage.ended,
  failed: usage.failed,
  open: usage.open,
  is_cut: usage.isCut,
  since: usage.since?.toISOString() ?? null,
  median_ms: usage.medianMs ?? null,
  p95_ms: usage.slowMs ?? null,
  errors: usage.errors,
});

export const limitRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/limits",
    roles: PEOPLE,
    gives: "work",
    summary:
      "The limits of the project and of its tools: what runs, what waits, and which breaker is open; and how many calls the project may have open.",
    query: pageQuery,
    answers: { 200: limitsPage },
    handle: async (call) => {
      const projectId = call.params.project ?? "";
      await refuseUnknownProject(call.engine, projectId);
      const states = await call.engine.limits.list(projectId);
      // A space is before every letter: the project's own limit comes first, then its targets; and no cursor is empty.
      const page = pageOfKnown(states, ({ toolName, target }) => toolName ?? ` ${target ?? ""}`, call.query);
      const rest = { next_cursor: page.nextCursor ?? null, open_calls: await call.engine.limits.openCalls(projectId) };
      return answerList(call, "items", page.items.map(limitBody), rest);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/tools/:tool/usage",
    roles: PEOPLE,
    gives: "work",
    summary: "How a tool did: its calls that are kept, up to the newest 100,000.",
    answers: { 200: usageShape },
    handle: async ({ engine, params, reply }) => {
      const [projectId, toolName] = [params.project ?? "", params.tool ?? ""];
      if ((await engine.tools.findTool(projectId, toolName)) === undefined) throw noTool(projectId, toolName);
      return reply(200, usageBody(toolName, await engine.toolUsage(projectId, toolName)));
    },
  }),
];
