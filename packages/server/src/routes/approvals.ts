// Calls that wait for a person: what waits, yes, no.

import type { Decision, WaitingCall } from "@toolplane/engine";
import { z } from "zod";
import { parametersOf, planShownArguments, type ShownArguments } from "../calls/shown-arguments.ts";
import { actorOf } from "../http/actor-of.ts";
import { answerPage } from "../http/answer-page.ts";
import { pageQuery } from "../http/page-query.ts";
import { OPERATORS, PEOPLE, type Route, route } from "../http/route.ts";

const waitingBody = (call: WaitingCall, shown: ShownArguments | undefined) => ({
  tool_call_id: call.toolCallId,
  tool_name: call.toolName,
  agent_id: call.agentId,
  agent_turn_id: call.agentTurnId,
  arguments: shown?.arguments ?? {},
  argument_layers: shown?.layers,
  tool_call_card_id: call.callCardId,
  asked_at: call.askedAt,
  expires_at: call.expiresAt,
});

const decisionBody = (decision: Omit<Decision, "status" | "idempotent">) => ({
  verdict: decision.verdict,
  by: decision.by,
  reason: decision.reason,
  decided_at: decision.decidedAt,
});

export const approvalRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/approvals",
    roles: PEOPLE,
    gives: "work",
    query: pageQuery,
    handle: async (call) => {
      const { engine } = call;
      const projectId = call.params.project ?? "";
      const { items, nextCursor } = await engine.approvals.list(projectId, call.query);
      const bodies = items.map(async (waiting) => {
        const parameters = await parametersOf(engine, { projectId, ...waiting });
        return waitingBody(waiting, planShownArguments(waiting.card, parameters, false));
      });
      return answerPage(call, await Promise.all(bodies), nextCursor);
    },
  }),
  // An agent must not approve its own calls: only people who operate the project decide.
  ...(["approve", "deny"] as const).map((verb) =>
    route({
      method: "POST",
      path: `/projects/:project/calls/:call/${verb}`,
      roles: OPERATORS,
      gives: "work",
      body: z.strictObject({
        reason: z.string().max(500).optional(),
        /** The person, where the token is shared by several. */
        by: z.string().min(1).max(128).optional(),
      }),
      handle: async ({ engine, params, body, caller, context }) => {
        const { idempotent, status, ...decision } = await engine.approvals[verb]({
          projectId: params.project ?? "",
          toolCallId: params.call ?? "",
          by: body.by ?? (caller.token.label || caller.actorId),
          reason: body.reason,
          actor: actorOf(caller),
        });
        return context.json({ tool_call_id: params.call, status, ...decisionBody(decision), idempotent });
      },
    }),
  ),
];
