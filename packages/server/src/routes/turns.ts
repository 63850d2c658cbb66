// Turns: start one, list them, look at one, stop one.

import { DEFAULT_CHANNEL, isTrustedActor, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { MAX_WAIT_SECONDS } from "../calls/make-call.ts";
import { personOf } from "../http/actor-of.ts";
import { cardsToGive, checkMayStart } from "../http/agent-rights.ts";
import { answerList } from "../http/answer-list.ts";
import { answerPage } from "../http/answer-page.ts";
import { pageOf, text } from "../http/answers.ts";
import type { Own } from "../http/own.ts";
import { errorCodeQuery, pageQuery, spanOf, timeQuery, tokenQuery, traceIdQuery } from "../http/page-query.ts";
import { checkCallerHeaders } from "../http/protocol-headers.ts";
import { CALLERS, LARGE_BODY_BYTES, READERS, type Route, route } from "../http/route.ts";
import { TURN_STATUSES } from "../http/statuses.ts";
import { exportTurn, turnExportBody } from "../turns/export-turn.ts";
import { askFields, planAsk } from "../turns/plan-ask.ts";
import { askedDetail, askedTurnBody, readTurn, turnBody, turnDetailBody, turnShape } from "../turns/turn-body.ts";

const waitSeconds = z.coerce.number().min(0).max(MAX_WAIT_SECONDS);

const keyFrom = (params: Readonly<Record<string, string>>) => ({
  projectId: params.project ?? "",
  agentTurnId: params.turn ?? "",
});

/** An agent's own turns, unless it asks for the turns that came of a turn it may see. */
const listedAgent = async (
  { self, check }: Own,
  query: { readonly agent_id?: string | undefined; readonly parent_agent_turn_id?: string | undefined },
): Promise<string | undefined> => {
  const { agent_id: asked, parent_agent_turn_id: parent } = query;
  if (self === undefined || isTrustedActor(self)) return asked;
  if (parent !== undefined) {
    await check("turn", parent);
    return asked;
  }
  if (asked !== undefined && asked !== self)
    throw new ToolplaneError(
      "auth_failed",
      `this token speaks for agent ${self} and lists its turns: leave agent_id out`,
    );
  return self;
};

const askBody = z.strictObject({
  ...askFields,
  channel_id: z.string().min(1).max(64).optional(),
  correlation_id: z.string().min(1).max(255).optional(),
  wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).optional(),
});

export const turnRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/projects/:project/agents/:agent/turns",
    roles: CALLERS,
    gives: "own",
    isHot: true,
    summary: "Starts a turn of an agent, and waits for its end if asked.",
    headers: {
      "Idempotency-Key": "In place of `correlation_id`.",
      traceparent: "The trace that the turn joins.",
      tracestate: "Of the trace.",
    },
    answers: { 200: askedTurnBody, 202: askedTurnBody },
    body: askBody,
    maxBytes: LARGE_BODY_BYTES,
    handle: async ({ engine, params, body, caller, own, context, signalFor, reply }) => {
      const waitMs = (body.wait_seconds ?? 0) * 1000;
      // Asked for first: it may refuse, and then nothing is packed or made.
      const signal = signalFor(waitMs);
      const [projectId, agentId] = [params.project ?? "", params.agent ?? ""];
      const said = { projectId, channelId: body.channel_id ?? DEFAULT_CHANNEL, agentId: caller.actorId };
      const saidDepth = checkCallerHeaders(context.req.raw.headers, said);
      await checkMayStart(engine, caller, own, { projectId, agentId, boxId: body.context_box_id });
      if (body.continue !== undefined) await own.check("turn", body.continue);
      const byAgent = caller.token.role === "agent";
      const give = cardsToGive(engine.boxes, own, projectId);
      const means = { engine, projectId, agentId, packedBy: caller.actorId, byAgent, give };
      const traceparent = context.req.header("traceparent");
      const request = {
        projectId,
        agentId,
        sourceAgentId: caller.actorId,
        saidDepth,
        ...(await planAsk(means, body)),
        channelId: body.channel_id,
        correlationId: body.correlation_id ?? context.req.header("idempotency-key"),
        traceparent,
        tracestate: traceparent === undefined ? undefined : context.req.header("tracestate"),
      };
      const asked = await engine.turns.ask(request, {
        waitMs,
        signal,
        // A correlation that another caller has used leads to a turn that this caller may not see.
        repeated: ({ agentTurnId }) => own.check("turn", agentTurnId),
      });
      const detail = await askedDetail(engine, asked);
      return reply(detail.ended_at === null ? 202 : 200, detail);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/turns",
    roles: READERS,
    gives: "own",
    summary: "Turns, newest first.",
    answers: { 200: pageOf(turnShape) },
    query: pageQuery.extend({
      agent_id: tokenQuery,
      status: z.enum(TURN_STATUSES).optional(),
      parent_agent_turn_id: z.string().min(1).max(128).optional(),
      trace_id: traceIdQuery,
      error_code: errorCodeQuery,
      ...timeQuery,
    }),
    handle: async (call) => {
      const { engine, params, query, own } = call;
      const { items, cursor } = await engine.turns.list(params.project ?? "", {
        agentId: await listedAgent(own, query),
        status: query.status,
        parentAgentTurnId: query.parent_agent_turn_id,
        traceId: query.trace_id,
        errorCode: query.error_code,
        ...spanOf(query),
        limit: query.limit,
        cursor: query.cursor,
      });
      const visible = await own.among(
        "turn",
        items.map(({ agentTurnId }) => agentTurnId),
      );
      const shown = items.filter(({ agentTurnId }) => visible.has(agentTurnId));
      return answerPage(call, shown.map(turnBody), cursor);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/turns/:turn",
    roles: READERS,
    gives: "turn",
    summary: "One turn with its steps, and what it waits for.",
    answers: { 200: turnDetailBody },
    // `detail=full`: what was said and done, too. A caller that waits for a deliverable does not need it.
    query: z.strictObject({ wait_seconds: waitSeconds.optional(), detail: z.enum(["full"]).optional() }),
    handle: async (call) => {
      const { engine, processes, params, query, caller } = call;
      const waitMs = (query.wait_seconds ?? 0) * 1000;
      const story = query.detail === "full" ? { forAgent: caller.token.role === "agent" } : undefined;
      const signal = waitMs > 0 ? call.signalFor(waitMs) : undefined;
      const { steps, ...turn } = await readTurn({ engine, processes, story }, keyFrom(params), waitMs, signal);
      return answerList(call, "steps", steps, turn);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/turns/:turn/export",
    roles: READERS,
    gives: "turn",
    summary: "A turn with its steps, calls and cards, to keep or to check elsewhere; long ones in pages.",
    query: z.strictObject({ cursor: z.string().max(1_024).optional() }),
    answers: { 200: turnExportBody },
    handle: async (call) => {
      const { engine, own, params, query } = call;
      const { cards, ...rest } = await exportTurn({ engine, own, ...keyFrom(params), cursor: query.cursor });
      return answerList(call, "cards", cards, rest);
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/turns/:turn/stop",
    roles: CALLERS,
    gives: "turn",
    summary: "Ends a turn; its open calls are canceled.",
    answers: { 200: z.strictObject({ agent_turn_id: text, stopped: z.boolean(), status: z.enum(TURN_STATUSES) }) },
    body: z.strictObject({ reason: z.string().max(500).optional() }),
    handle: async ({ engine, params, body, caller, reply }) => {
      const key = keyFrom(params);
      const asked = { ...key, actorId: caller.actorId, reason: body.reason, by: personOf(caller) };
      const { stopped, status } = await engine.turns.stop(asked);
      return reply(200, { agent_turn_id: key.agentTurnId, stopped, status });
    },
  }),
];
