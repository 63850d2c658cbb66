// What a tool service does: claim, read the card, heartbeat, release, settle; or the protocol's two steps.
// A tool's token reaches only the targets it names; the engine checks the rest when it settles.

import type { CallKey, Engine, LeasedCall } from "@toolplane/engine";
import { HEADERS, headersFromHttp, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";
import { type Caller, type Route, route, SERVICES } from "../http/route.ts";

const MAX_WAIT_SECONDS = 60;
/** A result larger than a card may be is refused by the engine with its own code; this only bounds what is read. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

const mayServe = (caller: Caller, target: string): void => {
  if (caller.token.role === "tool" && !caller.token.targets.includes(target))
    throw new ToolplaneError("auth_failed", `this token serves ${caller.token.targets.join(", ")}, not ${target}`);
};

/** The call's own actor, if this caller may speak for it. */
const actorFor = async (engine: Engine, caller: Caller, key: CallKey): Promise<string> => {
  const view = await engine.calls.facts(key);
  mayServe(caller, view.target);
  return view.actorId;
};

const keyFrom = (params: Readonly<Record<string, string>>): CallKey => ({
  projectId: params.project ?? "",
  toolCallId: params.call ?? "",
});

const commandOf = ({ command, lease, runDeadline, attempt, session }: LeasedCall) => ({
  subject: command.subject,
  headers: command.headers,
  payload: command.payload,
  lease: { id: lease.id, expires_at: lease.expiresAt.toISOString() },
  run_deadline: runDeadline.toISOString(),
  attempt,
  ...(session === undefined ? {} : { session }),
});

const leaseBody = z.strictObject({ lease: z.string().min(1).max(128) });

export const serviceRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/projects/:project/tool-services/:target/claim",
    roles: SERVICES,
    body: z.strictObject({
      max: z.number().int().min(1).max(256).default(1),
      wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).default(20),
      /** Who runs it, as people will read it in `why`. */
      holder: z.string().min(1).max(128).optional(),
    }),
    handle: async ({ engine, params, body, caller, context, signal }) => {
      const target = params.target ?? "";
      mayServe(caller, target);
      const holder = body.holder ?? `${caller.actorId} (${caller.token.tokenId})`;
      const request = { projectId: params.project ?? "", target, holder, max: body.max };
      const calls = await engine.calls.claim(request, body.wait_seconds * 1000, signal);
      // The client went away while it waited: what it cannot receive goes back at once.
      if (signal.aborted && calls.length > 0) {
        await Promise.all(calls.map(({ facts, lease }) => engine.calls.release({ ...facts, leaseId: lease.id })));
        return context.json({ commands: [] });
      }
      return context.json({ commands: calls.map(commandOf) });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/calls/:call/card",
    roles: SERVICES,
    handle: async ({ engine, params, caller, context }) => {
      const key = keyFrom(params);
      await actorFor(engine, caller, key);
      const { callCardId } = await engine.calls.facts(key);
      const [card] = await engine.cards.getCards(key.projectId, [callCardId]);
      return context.json(card ?? null);
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/:call/heartbeat",
    roles: SERVICES,
    body: leaseBody,
    handle: async ({ engine, params, body, caller, context }) => {
      const key = keyFrom(params);
      await actorFor(engine, caller, key);
      const beat = await engine.calls.heartbeat({ ...key, leaseId: body.lease });
      return context.json({ expires_at: beat.expiresAt?.toISOString() ?? null, cancel: beat.cancel });
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/:call/release",
    roles: SERVICES,
    body: leaseBody,
    handle: async ({ engine, params, body, caller, context }) => {
      const key = keyFrom(params);
      await actorFor(engine, caller, key);
      await engine.calls.release({ ...key, leaseId: body.lease });
      return context.json({ released: true });
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/:call/result",
    roles: SERVICES,
    maxBytes: MAX_RESULT_BYTES,
    body: z.strictObject({
      lease: z.string().min(1).max(128).optional(),
      status: z.unknown(),
      result: z.unknown().optional(),
      error: z.unknown().optional(),
      after_execution: z.unknown().optional(),
      definition_hash: z.string().max(128).optional(),
      /** What the next call of the session begins with; a call of no session has none to keep. */
      session_state: z.record(z.string(), z.unknown()).optional(),
      /** Further ways to show the result: `model`, `display`, `preview`. */
      views: z.record(z.string(), z.unknown()).optional(),
    }),
    handle: async ({ engine, params, body, caller, context }) => {
      const key = keyFrom(params);
      const actorId = await actorFor(engine, caller, key);
      const settled = await engine.calls.settle({
        ...key,
        actorId,
        leaseId: body.lease,
        traceparent: context.req.header("traceparent"),
        outcome: {
          given: {
            status: body.status,
            result: body.result,
            error: body.error,
            afterExecution: body.after_execution,
            definitionHash: body.definition_hash,
            sessionState: body.session_state,
            views: body.views,
          },
        },
      });
      return context.json({
        tool_result_card_id: settled.toolResultCardId,
        status: settled.status,
        idempotent: settled.idempotent,
      });
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/calls/:call/parts",
    roles: SERVICES,
    body: z.strictObject({
      lease: z.string().min(1).max(128).optional(),
      parts: z.array(z.strictObject({ index: z.number().int().min(0), part: z.json() })).max(1_000),
    }),
    handle: async ({ engine, params, body, caller, context }) => {
      const key = keyFrom(params);
      await actorFor(engine, caller, key);
      await engine.emitParts(key, body.parts);
      return context.json({ accepted: body.parts.length }, 202);
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/cards",
    roles: SERVICES,
    body: z.record(z.string(), z.unknown()),
    maxBytes: MAX_RESULT_BYTES,
    handle: async ({ engine, params, body, caller, context }) => {
      const projectId = params.project ?? "";
      const actorId = await actorFor(engine, caller, { projectId, toolCallId: String(body.tool_call_id ?? "") });
      const { cardId, hash } = await engine.calls.putResultCard({ projectId, actorId, card: body });
      return context.json({ card_id: cardId, hash }, 201);
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/reports",
    roles: SERVICES,
    body: z.record(z.string(), z.unknown()),
    handle: async ({ engine, params, body, caller, context }) => {
      const projectId = params.project ?? "";
      const headers = headersFromHttp(context.req.header());
      const toolCallId = headers[HEADERS.toolCallId];
      if (toolCallId === undefined)
        throw new ToolplaneError("protocol_violation", `a report names its call in the ${HEADERS.toolCallId} header`);
      const key = { projectId, toolCallId };
      const actorId = await actorFor(engine, caller, key);
      if (headers[HEADERS.projectId] !== undefined && headers[HEADERS.projectId] !== projectId)
        throw new ToolplaneError("protocol_violation", `${HEADERS.projectId} names another project than the route`);
      const settled = await engine.calls.report({
        ...key,
        actorId,
        leaseId: context.req.header("cg-lease"),
        payload: body,
        agentTurnId: headers[HEADERS.turnId],
        traceparent: headers[HEADERS.traceparent],
      });
      return context.json({
        tool_result_card_id: settled.toolResultCardId,
        status: settled.status,
        idempotent: settled.idempotent,
      });
    },
  }),
];
