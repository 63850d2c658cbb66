// Calls: make one, make many, look, wait, cancel, try again, ask why.

import { type CallAnswer, type CallRequest, isSettled } from "@toolplane/engine";
import { isToolplaneError, parseWith, refuseUnstorable, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { actorOf, personOf } from "../http/actor-of.ts";
import { checkMayCall } from "../http/agent-rights.ts";
import { answerList } from "../http/answer-list.ts";
import { answerPage } from "../http/answer-page.ts";
import { API_ACTOR, callerAgent } from "../http/caller-agent.ts";
import { checkCallerHeaders } from "../http/caller-headers.ts";
import { cursorAfter, keyOfCursor, pageQuery } from "../http/page-query.ts";
import {
  CALLERS,
  type Caller,
  LARGE_BODY_BYTES,
  OPERATORS,
  READERS,
  type Route,
  type RouteCall,
  route,
} from "../http/route.ts";
import { explainCall } from "../why/explain-call.ts";
import { callAnswer, callDetail, resultCards } from "./call-body.ts";

export const MAX_WAIT_SECONDS = 300;
const MAX_BATCH = 100;

const callBody = z.strictObject({
  tool_name: z.string().min(1).max(64),
  arguments: z.unknown().optional(),
  agent_id: z.string().min(1).max(128).optional(),
  channel_id: z.string().min(1).max(64).optional(),
  idempotency_key: z.string().min(1).max(255).optional(),
  wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).optional(),
  not_before: z.iso.datetime({ offset: true }).optional(),
});

type CallBody = z.infer<typeof callBody>;

const requestOf = (caller: Caller, projectId: string, body: CallBody, headers: Headers): CallRequest => ({
  projectId,
  toolName: body.tool_name,
  arguments: body.arguments,
  agentId: callerAgent(caller, body.agent_id),
  channelId: body.channel_id,
  idempotencyKey: body.idempotency_key,
  notBeforeMs: body.not_before === undefined ? undefined : Date.parse(body.not_before),
  traceparent: headers.get("traceparent") ?? undefined,
  tracestate: headers.get("tracestate") ?? undefined,
});

const keyOf = (body: CallBody, headers: Headers): CallBody => {
  const key = headers.get("idempotency-key") ?? undefined;
  if (key === undefined) return body;
  if (body.idempotency_key !== undefined && body.idempotency_key !== key)
    throw new ToolplaneError("bad_request", "the Idempotency-Key header and idempotency_key differ");
  return { ...body, idempotency_key: key };
};

type Asked = Pick<RouteCall<unknown, unknown>, "engine" | "toolHosts" | "signal" | "caller">;

/** A tool that is not there may wait for a person, or be one of a host that has not started yet: then that is the news. */
const explainMissing = async (error: unknown, { engine, toolHosts }: Asked, request: CallRequest): Promise<unknown> => {
  if (!isToolplaneError(error) || error.code !== "not_found") return error;
  const { projectId, toolName } = request;
  const known = await engine.tools.findTool(projectId, toolName);
  if (known?.status === "deleted" && known.pending !== undefined) {
    const todo = `version ${known.pending.version} waits: toolplane tools accept ${toolName}`;
    return new ToolplaneError("not_found", `${error.message}; it was deleted`, { detail: { todo } });
  }
  const late = toolHosts
    .list(projectId)
    .find(({ setting: { name, prefix }, description }) => !description && toolName.startsWith(prefix ?? `${name}__`));
  const problem = late && toolHosts.problemOf(projectId, late.setting.target);
  if (problem === undefined || (known !== undefined && known.status !== "deleted")) return error;
  return new ToolplaneError("not_found", `${error.message}; ${problem.why}, and its tools come when it is ready`);
};

const checkHeaders = (headers: Headers, { projectId, channelId, agentId = API_ACTOR }: CallRequest): void =>
  checkCallerHeaders(headers, { projectId, channelId, agentId });

const make = async (asked: Asked, request: CallRequest, waitSeconds: number): Promise<CallAnswer> => {
  await checkMayCall(asked.engine, asked.caller, request.projectId, request.toolName);
  try {
    return await asked.engine.calls.call(request, waitSeconds * 1000, asked.signal);
  } catch (error) {
    throw await explainMissing(error, asked, request);
  }
};

const answer = async ({ engine, context }: RouteCall<unknown, unknown>, view: CallAnswer): Promise<Response> => {
  const cards = await resultCards(engine, view.projectId, [view]);
  return context.json(callAnswer(view, cards.get(view.resultCardId ?? "")), isSettled(view.status) ? 200 : 202);
};

const batchItem = async (
  call: RouteCall<unknown, unknown>,
  projectId: string,
  input: unknown,
): Promise<Record<string, unknown>> => {
  try {
    refuseUnstorable(input, "the call");
    const body = parseWith(callBody, input, "the call");
    const request = requestOf(call.caller, projectId, body, new Headers());
    checkHeaders(call.context.req.raw.headers, request);
    const view = await make(call, request, body.wait_seconds ?? 0);
    const cards = await resultCards(call.engine, projectId, [view]);
    return callAnswer(view, cards.get(view.resultCardId ?? ""));
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
    return { error: error.toWire() };
  }
};

const listQuery = pageQuery.extend({
  status: z
    .enum(["queued", "running", "awaiting_approval", "success", "failed", "canceled", "timeout", "partial"])
    .optional(),
  tool_name: z.string().max(64).optional(),
});

const waitQuery = z.strictObject({ wait_seconds: z.coerce.number().min(0).max(MAX_WAIT_SECONDS).optional() });

const keyFrom = (params: Readonly<Record<string, string>>) => ({
  projectId: params.project ?? "",
  toolCallId: params.call ?? "",
});

export const callRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/projects/:project/calls",
    roles: CALLERS,
    gives: "own",
    body: callBody,
    maxBytes: LARGE_BODY_BYTES,
    handle: async (call) => {
      const { headers } = call.context.req.raw;
      const body = keyOf(call.body, headers);
      const request = requestOf(call.caller, call.params.project ?? "", body, headers);
      checkHeaders(headers, request);
      return answer(call, await make(call, request, body.wait_seconds ?? 0));
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/batch",
    roles: CALLERS,
    gives: "own",
    body: z.array(z.unknown()).min(1).max(MAX_BATCH),
    maxBytes: 16 * 1024 * 1024,
    anyText: true,
    handle: async (call) => {
      const projectId = call.params.project ?? "";
      // What is wrong for all of them refuses the batch; the channel and the agent are each item's own.
      checkCallerHeaders(call.context.req.raw.headers, { projectId });
      const items = await Promise.all(call.body.map((item) => batchItem(call, projectId, item)));
      return answerList(call.context, "items", items);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/calls",
    roles: READERS,
    gives: "own",
    query: listQuery,
    handle: async (call) => {
      const { engine, params, query } = call;
      const limit = query.limit ?? 100;
      const views = await engine.calls.list(params.project ?? "", {
        limit,
        before: keyOfCursor(query.cursor),
        status: query.status,
        toolName: query.tool_name,
        // Of what an agent may see its own calls are listed; those of turns it started are found by their turn.
        agentId: call.own.self,
      });
      const items = views.map((view) => callDetail(view, undefined));
      const ids = views.map(({ toolCallId }) => toolCallId);
      return answerPage(call, items, cursorAfter(ids, limit));
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/calls/:call",
    roles: READERS,
    gives: "call",
    query: waitQuery,
    handle: async ({ engine, params, query, context, signal }) => {
      const key = keyFrom(params);
      let view = await engine.calls.get(key);
      if (!isSettled(view.status) && query.wait_seconds !== undefined) {
        await engine.calls.wait(key, query.wait_seconds * 1000, signal);
        view = await engine.calls.get(key);
      }
      const cards = await resultCards(engine, key.projectId, [view]);
      return context.json(callDetail(view, cards.get(view.resultCardId ?? "")));
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/calls/:call/why",
    roles: READERS,
    gives: "call",
    handle: async ({ engine, toolHosts, processes, params, context }) =>
      context.json(await explainCall(engine, keyFrom(params), toolHosts, processes)),
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/:call/cancel",
    roles: CALLERS,
    gives: "call",
    body: z.strictObject({ reason: z.string().max(500).optional() }),
    handle: async ({ engine, params, body, context, caller }) => {
      const { canceled, status } = await engine.calls.cancel({
        ...keyFrom(params),
        reason: body.reason,
        by: caller.actorId,
        actor: personOf(caller),
      });
      return context.json({ canceled, status });
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/:call/retry",
    roles: OPERATORS,
    gives: "work",
    body: z.strictObject({ wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).optional() }),
    handle: async (call) => {
      const { projectId, toolCallId } = keyFrom(call.params);
      const key = call.context.req.header("idempotency-key");
      const made = await call.engine.deadLetters.retryCall(projectId, toolCallId, key, actorOf(call.caller));
      const fresh = { projectId, toolCallId: made.toolCallId };
      if (call.body.wait_seconds !== undefined)
        await call.engine.calls.wait(fresh, call.body.wait_seconds * 1000, call.signal);
      return answer(call, await call.engine.calls.get(fresh));
    },
  }),
];
