// The way to a plane in the same process: the engine answers the client's requests, with the checks and the bodies of the HTTP
// API. The caller is the program that opened the plane; it has the rights of an administrator.

import type { Actor, CallAnswer, Engine } from "@toolplane/engine";
import type { Card } from "@toolplane/protocol";
import { type Body, jsonOf, type RawEvent, type Way } from "@toolplane/sdk/client";
import { callAnswer, resultCards } from "../calls/call-body.ts";
import { makeCall, parseCall } from "../calls/make-call.ts";
import { readCall } from "../calls/read-call.ts";
import { openFeed } from "../events/feed.ts";
import { toolBody } from "../gateway/tool-operations.ts";
import type { ToolHosts } from "../hosts/tool-hosts.ts";
import { API_ACTOR } from "../http/caller-agent.ts";
import { createOwn } from "../http/own.ts";
import type { Caller } from "../http/route.ts";
import { parseAsk, planAsk } from "../turns/plan-ask.ts";
import { askedDetail, readTurn } from "../turns/turn-body.ts";
import type { PlaneProcesses } from "../up/plane-processes.ts";
import { explainCall } from "../why/explain-call.ts";

export interface EngineWayOptions {
  readonly engine: Engine;
  readonly toolHosts: ToolHosts;
  readonly processes: PlaneProcesses;
  readonly projectId: string;
  /** Aborted when the plane closes: waits end. */
  readonly closing: AbortSignal;
  readonly close: () => Promise<void>;
}

const PAGE = 500;
/** How long a reader of events sleeps when nothing rings. */
const IDLE_MS = 60_000;

/** The program itself. It has no token, so none is stored. */
const PROGRAM: Caller = {
  actorId: API_ACTOR,
  token: {
    tokenId: "in-process",
    role: "admin",
    projectId: null,
    actorId: null,
    targets: [],
    label: "this program",
    createdAt: new Date(0),
    expiresAt: null,
    revokedAt: null,
  },
};

/** The same, as the audit writes it down. */
const PERSON: Actor = { door: "service", tokenId: null, role: "admin", actor: "a program in the plane's process" };

/** A copy by way of JSON: the caller may change its own value afterwards, and gets the same types as over HTTP. */
const asJson = (value: unknown): unknown => JSON.parse(jsonOf(value));

export const createEngineWay = (options: EngineWayOptions): Way => {
  const { engine, toolHosts, processes, projectId, closing } = options;
  const readResult = async (view: CallAnswer): Promise<Card | undefined> =>
    (await resultCards(engine, projectId, [view])).get(view.resultCardId ?? "");
  const own = createOwn(engine, PROGRAM, projectId);
  const until = (signal: AbortSignal | undefined): AbortSignal =>
    signal === undefined ? closing : AbortSignal.any([signal, closing]);
  const keyOf = (toolCallId: string) => ({ projectId, toolCallId });

  return {
    projectId,
    place: "this process",
    isReached: () => true,
    async findCall({ toolName, key: idempotencyKey, agentId = API_ACTOR }) {
      const [found] = await engine.calls.list(projectId, { toolName, agentId, idempotencyKey });
      return found?.toolCallId;
    },
    async makeCall({ toolName, arguments: given, key, agentId, notBefore, untilMs }, signal, sent) {
      const body = parseCall({
        tool_name: toolName,
        arguments: asJson(given),
        idempotency_key: key,
        agent_id: agentId,
        not_before: notBefore,
      });
      const asked = { engine, toolHosts, caller: PROGRAM, projectId, signal: until(signal) };
      sent?.();
      const view = await makeCall(asked, { ...body, wait_seconds: Math.max(untilMs - Date.now(), 0) / 1000 });
      return callAnswer(view, await readResult(view));
    },
    async readCall(callId, waitMs, signal) {
      return readCall(engine, keyOf(callId), { role: PROGRAM.token.role, waitMs, signal: until(signal) });
    },
    async cancelCall(callId, reason) {
      const { canceled, status } = await engine.calls.cancel({
        ...keyOf(callId),
        reason,
        by: PROGRAM.actorId,
        actor: PERSON,
      });
      return { canceled, status };
    },
    explainCall: async (callId): Promise<Body> => ({
      ...(await explainCall(engine, keyOf(callId), toolHosts, processes)),
    }),
    async startTurn({ agentId, instruction, key, contextBoxId, continued, budget }) {
      const means = { engine, projectId, agentId, packedBy: PROGRAM.actorId };
      const body = parseAsk({ instruction, context_box_id: contextBoxId, continue: continued, budget });
      const asked = await planAsk(means, body);
      const request = { projectId, agentId, sourceAgentId: PROGRAM.actorId, ...asked, correlationId: key };
      return askedDetail(engine, await engine.turns.ask(request, { waitMs: 0 }));
    },
    readTurn: (agentTurnId, waitMs, signal) =>
      readTurn({ engine, processes }, { projectId, agentTurnId }, waitMs, until(signal)),
    async stopTurn(agentTurnId, reason) {
      const { stopped, status } = await engine.turns.stop({
        projectId,
        agentTurnId,
        actorId: API_ACTOR,
        reason,
        by: PERSON,
      });
      return { agent_turn_id: agentTurnId, stopped, status };
    },
    async listTools() {
      const tools: Body[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await engine.tools.listTools(projectId, { limit: PAGE, cursor, pending: false });
        tools.push(...page.items.map(toolBody));
        if (page.nextCursor === undefined || page.nextCursor === null) return tools;
        cursor = page.nextCursor;
      }
    },
    async openEvents(after, signal) {
      const feed = await openFeed({ engine, projectId, own, after });
      const over = until(signal);
      over.addEventListener("abort", feed.ring, { once: true });
      return (async function* (): AsyncGenerator<readonly RawEvent[]> {
        try {
          yield [{ id: feed.position(), event: "message", data: "" }];
          while (!over.aborted) {
            const { events, isMore } = await feed.next();
            if (events.length > 0)
              yield events.map(({ subject, payload, position }) => ({
                id: position,
                event: position === undefined ? "str" : "evt",
                data: JSON.stringify({ subject, payload }),
              }));
            if (!isMore && !over.aborted) await feed.wait(IDLE_MS);
          }
        } finally {
          over.removeEventListener("abort", feed.ring);
          feed[Symbol.dispose]();
        }
      })();
    },
    close: options.close,
  };
};
