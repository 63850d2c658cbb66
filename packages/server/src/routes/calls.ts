// Calls: make one, make many, look, wait, cancel, try again, ask why.

import { type CallAnswer, isSettled, MAX_CANCELED } from "@toolplane/engine";
import { ToolplaneError, understandError } from "@toolplane/protocol";
import { z } from "zod";
import type { ItemOutcome } from "../calls/batch-answers.ts";
import { streamBatchList } from "../calls/batch-list.ts";
import { streamBatch } from "../calls/batch-stream.ts";
import {
  batchItemBody,
  batchLineBody,
  callAnswer,
  callAnswerBody,
  callBody,
  callDetail,
  callDetailBody,
  resultCards,
  retriedCallBody,
} from "../calls/call-body.ts";
import {
  type Asked,
  type CallRequestBody,
  callRequestBody,
  MAX_WAIT_SECONDS,
  makeCall,
  parseCall,
} from "../calls/make-call.ts";
import { readCall } from "../calls/read-call.ts";
import { actorOf, personOf } from "../http/actor-of.ts";
import { answerPage } from "../http/answer-page.ts";
import { type Answers, JSON_TYPE, pageOf, textOrNull } from "../http/answers.ts";
import { watchCaller } from "../http/authenticate.ts";
import { MOST_PARTS } from "../http/body-parts.ts";
import { API_ACTOR } from "../http/caller-agent.ts";
import { explainNotFound, refuseUnknownProject } from "../http/known-project.ts";
import type { Own } from "../http/own.ts";
import {
  cursorAfter,
  errorCodeQuery,
  keyOfCursor,
  pageQuery,
  spanOf,
  timeQuery,
  tokenQuery,
  toolNameQuery,
  traceIdQuery,
} from "../http/page-query.ts";
import { callerHeaders, checkCallerHeaders } from "../http/protocol-headers.ts";
import { cutReader } from "../http/readers.ts";
import {
  CALLERS,
  FOR_EVER,
  LARGE_BODY_BYTES,
  OPERATORS,
  READERS,
  type Route,
  type RouteCall,
  route,
} from "../http/route.ts";
import { CALL_STATUSES } from "../http/statuses.ts";
import { explainCall, explanationBody } from "../why/explain-call.ts";

const MAX_BATCH_BYTES = 16 * 1024 * 1024;
const NDJSON = "application/x-ndjson";

const keyOf = (body: CallRequestBody, headers: Headers): CallRequestBody => {
  const key = headers.get("idempotency-key") ?? undefined;
  if (key === undefined) return body;
  if (body.idempotency_key !== undefined && body.idempotency_key !== key)
    throw new ToolplaneError("bad_request", "the Idempotency-Key header and idempotency_key differ");
  return { ...body, idempotency_key: key };
};

const askedBy = (
  call: Pick<RouteCall<unknown, unknown>, "engine" | "toolHosts" | "caller" | "params" | "webhooks">,
  signal: AbortSignal,
): Asked => ({
  engine: call.engine,
  toolHosts: call.toolHosts,
  caller: call.caller,
  projectId: call.params.project ?? "",
  signal,
  webhooks: call.webhooks,
});

const MADE = { 200: callAnswerBody, 202: callAnswerBody } satisfies Answers;

const answer = async (
  { engine, reply }: Pick<RouteCall<unknown, unknown, typeof MADE>, "engine" | "reply">,
  view: CallAnswer,
): Promise<Response> => {
  const cards = await resultCards(engine, view.projectId, [view]);
  return reply(isSettled(view.status) ? 200 : 202, callAnswer(view, cards.get(view.resultCardId ?? "")));
};

const batchAnswers = {
  200: { [JSON_TYPE]: z.strictObject({ items: z.array(batchItemBody) }), [NDJSON]: batchLineBody },
} satisfies Answers;

type BatchCall = RouteCall<readonly unknown[], unknown, typeof batchAnswers>;

/** Each item has its own answer: a bad item is refused alone. Unexpected errors are logged once for a batch. */
const makeItems = (call: BatchCall, signal: AbortSignal): readonly Promise<ItemOutcome>[] => {
  const asked = askedBy(call, signal);
  const headers = callerHeaders(call.context.req.raw.headers);
  let logged = false;
  return call.body.map(async (input) => {
    try {
      return await makeCall(asked, parseCall(input), { headers });
    } catch (thrown) {
      const error = await explainNotFound(thrown, call.engine, asked.projectId);
      const known = understandError(error);
      if (known.http >= 500 && !logged) {
        logged = true;
        call.log.error("a call of a batch failed", { code: known.code, cause: String(known.cause ?? error) });
      }
      return known;
    }
  });
};

const answerAsTheySettle = (call: BatchCall): Response => {
  // Asked for first: it refuses when too many requests wait, and then nothing is held.
  const { context, engine, caller, batchReaders } = call;
  const waiting = call.signalFor(FOR_EVER);
  const place = batchReaders.open(caller.token.tokenId);
  // The request counts as answered with its first line, but its token is watched and its body counted until the last line.
  const watch = watchCaller(engine, caller);
  const held = call.holdBody();
  const gone = new AbortController();
  const signal = AbortSignal.any([waiting, watch.ended, gone.signal]);
  const items = makeItems(call, signal);
  const body = streamBatch({
    engine,
    projectId: call.params.project ?? "",
    items,
    tokenEnded: watch.ended,
    heardGone: () => gone.abort(),
    slowMs: batchReaders.limits.slowMs,
    cut: () => cutReader(context),
    ended: () => {
      place[Symbol.dispose]();
      watch[Symbol.dispose]();
      // A reader may go before its calls are written, and their arguments live until then.
      void Promise.all(items).finally(() => held[Symbol.dispose]());
    },
  });
  return context.body(body, 200, { "Content-Type": NDJSON });
};

const answerTogether = async (call: BatchCall): Promise<Response> => {
  const { context, engine, params, caller, batchReaders } = call;
  const signal = call.signalFor(FOR_EVER);
  // It waits as a stream does, and holds as much.
  const place = batchReaders.open(caller.token.tokenId);
  const held = call.holdBody();
  const body = streamBatchList({
    engine,
    projectId: params.project ?? "",
    outcomes: await Promise.all(makeItems(call, signal)),
    slowMs: batchReaders.limits.slowMs,
    cut: () => cutReader(context),
    ended: () => {
      place[Symbol.dispose]();
      held[Symbol.dispose]();
    },
  });
  return context.body(body, 200, { "Content-Type": "application/json" });
};

const listQuery = pageQuery.extend({
  status: z.enum(CALL_STATUSES).optional(),
  tool_name: toolNameQuery,
  agent_id: tokenQuery,
  target: tokenQuery.meta({
    description:
      "Calls that went to this target, of the tools that have it now (also deleted ones). What a tool ran at another target before is listed by `tool_name` only.",
  }),
  error_code: errorCodeQuery,
  idempotency_key: z.string().min(1).max(255).optional().meta({
    description:
      "The call that was made with this key, if there is one. With `tool_name`, and `agent_id` if one was given.",
  }),
  trace_id: traceIdQuery.meta({ description: "Alone, with `limit` and `cursor`." }),
  ...timeQuery,
});

/** An agent's own calls; calls of turns that it started are found by their turn. */
const listedAgent = ({ self }: Own, asked: string | undefined): string | undefined => {
  if (self !== undefined && asked !== undefined && asked !== self)
    throw new ToolplaneError("auth_failed", `this token lists the calls of ${self}: leave agent_id out`);
  return self ?? asked;
};

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
    isHot: true,
    summary: "Makes a call, and waits for its result if asked.",
    headers: {
      "Idempotency-Key": "In place of `idempotency_key`.",
      traceparent: "The trace that the call joins.",
      tracestate: "Of the trace.",
    },
    answers: MADE,
    body: callRequestBody,
    maxBytes: LARGE_BODY_BYTES,
    keepsIntegers: true,
    handle: async (call) => {
      const { headers } = call.context.req.raw;
      const body = keyOf(call.body, headers);
      const said = { headers: callerHeaders(headers), trace: headers };
      const signal = call.signalFor((body.wait_seconds ?? 0) * 1000);
      return answer(call, await makeCall(askedBy(call, signal), body, said));
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/batch",
    roles: CALLERS,
    gives: "own",
    isHot: true,
    summary: "Makes many calls; each item has its own answer.",
    headers: { Accept: "`application/x-ndjson`: one line for each item as it settles." },
    answers: batchAnswers,
    shownBody: z.array(callRequestBody).min(1).max(MOST_PARTS),
    body: z.array(z.unknown()).min(1).max(MOST_PARTS),
    maxBytes: MAX_BATCH_BYTES,
    anyText: true,
    parts: { are: "requests", maxBytes: LARGE_BODY_BYTES },
    handle: async (call) => {
      const projectId = call.params.project ?? "";
      // What is wrong for all items refuses the batch; channel and agent are checked per item.
      checkCallerHeaders(call.context.req.raw.headers, { projectId });
      if (call.context.req.header("idempotency-key") !== undefined)
        throw new ToolplaneError(
          "bad_request",
          "the Idempotency-Key header is for one call; give each call of the batch its own idempotency_key",
        );
      const isStream = call.context.req.header("accept")?.includes(NDJSON) === true;
      return isStream ? answerAsTheySettle(call) : answerTogether(call);
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/calls",
    roles: READERS,
    gives: "own",
    summary: "Calls, newest first.",
    query: listQuery,
    answers: { 200: pageOf(callBody) },
    handle: async (call) => {
      const { engine, params, query } = call;
      const limit = query.limit ?? 100;
      const agentId = query.trace_id === undefined ? listedAgent(call.own, query.agent_id) : query.agent_id;
      const views = await engine.calls.list(params.project ?? "", {
        limit,
        before: keyOfCursor(query.cursor),
        status: query.status,
        toolName: query.tool_name,
        // A key belongs to the agent that made the call. A call without an agent is made by the API.
        agentId: query.idempotency_key === undefined ? agentId : (agentId ?? API_ACTOR),
        idempotencyKey: query.idempotency_key,
        target: query.target,
        errorCode: query.error_code,
        traceId: query.trace_id,
        ...spanOf(query),
      });
      const ids = views.map(({ toolCallId }) => toolCallId);
      // A trace may hold calls of others.
      const visible = query.trace_id === undefined ? undefined : await call.own.among("call", ids);
      const shown = views.filter(({ toolCallId }) => visible?.has(toolCallId) !== false);
      const items = shown.map((view) => callDetail(view, undefined));
      return answerPage(call, items, cursorAfter(ids, limit));
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/calls/:call",
    roles: READERS,
    gives: "call",
    summary: "Everything about one call; with `wait_seconds`, when it has settled.",
    query: waitQuery,
    answers: { 200: callDetailBody },
    handle: async (call) => {
      const { engine, params, query, reply, caller } = call;
      const waitMs = (query.wait_seconds ?? 0) * 1000;
      // Looking needs no signal, which watches the token.
      const signal = waitMs > 0 ? call.signalFor(waitMs) : undefined;
      return reply(200, await readCall(engine, keyFrom(params), { role: caller.token.role, waitMs, signal }));
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/calls/:call/why",
    roles: READERS,
    gives: "call",
    summary: "Where a call is, what it waits for, and what to do.",
    answers: { 200: explanationBody },
    handle: async ({ engine, toolHosts, processes, params, reply, caller, own }) => {
      const reader = {
        isAgent: caller.token.role === "agent",
        seen: (ids: readonly string[]) => own.among("call", ids),
      };
      return reply(200, await explainCall(engine, keyFrom(params), toolHosts, processes, reader));
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/cancel",
    roles: OPERATORS,
    gives: "work",
    summary: "Cancels calls that wait, the oldest first, up to 1,000 at once.",
    answers: {
      200: z.strictObject({
        canceled: z.int(),
        next_cursor: textOrNull.meta({
          description: "Send it as `cursor` to cancel the next ones; null: none is left.",
        }),
      }),
    },
    body: z.strictObject({
      tool_name: toolNameQuery,
      target: tokenQuery,
      agent_id: tokenQuery,
      reason: z.string().max(500).optional(),
      limit: z.int().min(1).max(MAX_CANCELED).optional(),
      cursor: z.string().max(1_024).optional(),
    }),
    handle: async ({ engine, params, body, reply, caller }) => {
      const projectId = params.project ?? "";
      await refuseUnknownProject(engine, projectId);
      const { canceled, nextCursor } = await engine.calls.cancelWaiting({
        projectId,
        toolName: body.tool_name,
        target: body.target,
        agentId: body.agent_id,
        reason: body.reason,
        limit: body.limit,
        cursor: body.cursor,
        by: caller.actorId,
        actor: actorOf(caller),
      });
      return reply(200, { canceled, next_cursor: nextCursor ?? null });
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/:call/cancel",
    roles: CALLERS,
    gives: "call",
    summary: "Cancels a call; false when it had settled before.",
    answers: { 200: z.strictObject({ canceled: z.boolean(), status: z.enum(CALL_STATUSES) }) },
    body: z.strictObject({ reason: z.string().max(500).optional() }),
    handle: async ({ engine, params, body, reply, caller }) => {
      const { canceled, status } = await engine.calls.cancel({
        ...keyFrom(params),
        reason: body.reason,
        by: caller.actorId,
        actor: personOf(caller),
      });
      return reply(200, { canceled, status });
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/:call/retry",
    roles: OPERATORS,
    gives: "work",
    summary: "Makes a new call with the arguments that its caller once sent.",
    headers: { "Idempotency-Key": "Asked twice with it, the new call is the same." },
    answers: { 200: retriedCallBody, 202: retriedCallBody },
    body: z.strictObject({ wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).optional() }),
    handle: async (call) => {
      const { projectId, toolCallId } = keyFrom(call.params);
      const idempotencyKey = call.context.req.header("idempotency-key");
      const saidDepth = checkCallerHeaders(call.context.req.raw.headers, { projectId });
      const asked = { idempotencyKey, saidDepth, by: actorOf(call.caller) };
      const made = await call.engine.deadLetters.retryCall(projectId, toolCallId, asked);
      const fresh = { projectId, toolCallId: made.toolCallId };
      const waitMs = (call.body.wait_seconds ?? 0) * 1000;
      if (waitMs > 0) await call.engine.calls.wait(fresh, waitMs, call.signalFor(waitMs));
      const view = await call.engine.calls.get(fresh);
      const card = (await resultCards(call.engine, projectId, [view])).get(view.resultCardId ?? "");
      return call.reply(isSettled(view.status) ? 200 : 202, { ...callAnswer(view, card), retry_of: toolCallId });
    },
  }),
];
