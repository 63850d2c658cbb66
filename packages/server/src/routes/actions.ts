// A person's action from a user interface: one use of a tool in the name of an agent. It is a turn of its own. Its
// acknowledgements are events (`evt.sys.ui.action_ack`), over HTTP and NATS; the answer here is the first of them.

import { createSubmitAction } from "@toolplane/agents";
import { createIds, systemClock } from "@toolplane/engine";
import {
  createContext,
  createTraceparent,
  DEFAULT_CHANNEL,
  type ErrorCode,
  HEADERS,
  isErrorCode,
  parseTraceparent,
  ToolplaneError,
} from "@toolplane/protocol";
import { z } from "zod";
import { MAX_WAIT_SECONDS } from "../calls/make-call.ts";
import { checkMayAct, checkMayCall } from "../http/agent-rights.ts";
import { text } from "../http/answers.ts";
import { checkCallerHeaders } from "../http/protocol-headers.ts";
import { CALLERS, LARGE_BODY_BYTES, type Route, route } from "../http/route.ts";
import { TURN_STATUSES } from "../http/statuses.ts";

const ids = createIds(systemClock.now);

const actionBody = z.strictObject({
  tool_name: z.string().min(1).max(128),
  args: z.record(z.string(), z.unknown()).optional(),
  action_id: z.string().min(1).max(128).optional(),
  message_id: z.string().min(1).max(128).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  channel_id: z.string().min(1).max(64).optional(),
  wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).optional(),
});

const ackBody = z
  .strictObject({
    action_id: text,
    agent_id: text,
    status: z.enum(["accepted", "busy", "rejected", "done"]),
    message_id: text.optional(),
    tool_result_card_id: text.optional(),
    error_code: text.optional(),
    error: text.optional(),
    agent_turn_id: text,
    turn_status: z.enum(TURN_STATUSES).nullable(),
    idempotent: z.boolean(),
  })
  .meta({ id: "ActionAck" });

/** Codes of refusals that have no status of their own. */
const STATUS_OF: Readonly<Record<string, ErrorCode>> = {
  agent_not_found: "not_found",
  tool_definition_missing: "not_found",
  ui_not_allowed: "auth_failed",
  invalid_worker_target: "conflict",
};

const refusal = (code: string, message: string): ToolplaneError =>
  new ToolplaneError(isErrorCode(code) ? code : (STATUS_OF[code] ?? "bad_request"), message, {
    detail: { error_code: code },
  });

/** The trace a client is in, or a new one. */
const traceOf = (headers: Headers): Readonly<Record<string, string>> => {
  const traceparent = headers.get("traceparent") ?? createTraceparent(ids);
  const tracestate = headers.get("tracestate");
  return {
    [HEADERS.traceparent]: traceparent,
    ...(tracestate === null ? {} : { [HEADERS.tracestate]: tracestate }),
  };
};

export const actionRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/projects/:project/agents/:agent/actions",
    roles: CALLERS,
    gives: "own",
    summary: "A person uses one tool in the name of an agent.",
    headers: { "Idempotency-Key": "In place of `action_id`.", traceparent: "The trace that the action joins." },
    body: actionBody,
    answers: { 200: ackBody, 202: ackBody },
    maxBytes: LARGE_BODY_BYTES,
    handle: async ({ engine, params, body, caller, own, context, signalFor, log, reply }) => {
      const waitMs = (body.wait_seconds ?? 0) * 1000;
      // Asked for first: it may refuse, and then nothing is made.
      const signal = signalFor(waitMs);
      const [projectId, agentId] = [params.project ?? "", params.agent ?? ""];
      const channelId = body.channel_id ?? DEFAULT_CHANNEL;
      const request = { projectId, channelId, agentId, isAction: true };
      const recursionDepth = checkCallerHeaders(context.req.raw.headers, request);
      checkMayAct(caller, agentId);
      await checkMayCall(engine, caller, projectId, body.tool_name);
      const headers = traceOf(context.req.raw.headers);
      const actionId = body.action_id ?? context.req.header("idempotency-key") ?? ids.uuid();
      const { channel_id: _, wait_seconds: __, ...asked } = body;
      const submit = createSubmitAction({ engine, log });
      const action = {
        context: createContext({
          projectId,
          agentId,
          channelId,
          // Over HTTP no turn has to be named.
          agentTurnId: `action_${actionId}`,
          turnEpoch: 0,
          recursionDepth,
          traceId: parseTraceparent(headers[HEADERS.traceparent] ?? "").traceId,
          headers,
        }),
        actionId,
        byAgent: caller.token.role === "agent",
        payload: { ...asked, action_id: actionId, args: asked.args ?? {} },
      };
      const { ack, turn } = await submit(action);
      if (turn === undefined) throw refusal(ack.error_code ?? "internal_error", ack.error ?? "the action was refused");
      // An action id that another caller has used leads to a turn that this caller may not see.
      if (turn.idempotent) await own.check("turn", turn.agentTurnId);
      const key = { projectId, agentTurnId: turn.agentTurnId };
      const view = await engine.turns.wait(key, waitMs, signal);
      const isOver = view !== undefined && view.endedAt !== null;
      // The action ended during the wait: asked once more, it says how.
      const isNews = isOver && (!turn.idempotent || ack.status === "busy");
      const said = isNews ? (await submit(action)).ack : ack;
      return reply(isOver ? 200 : 202, {
        ...said,
        agent_turn_id: turn.agentTurnId,
        turn_status: view?.status ?? null,
        idempotent: turn.idempotent,
      });
    },
  }),
];
