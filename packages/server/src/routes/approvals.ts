// Calls that wait for a person: what waits, yes, no.

import type { WaitingCall } from "@toolplane/engine";
import { z } from "zod";
import { argumentLayers, decisionBody, decisionFields } from "../calls/call-body.ts";
import { parametersOf, planShownArguments, type ShownArguments } from "../calls/shown-arguments.ts";
import { actorOf } from "../http/actor-of.ts";
import { answerPage } from "../http/answer-page.ts";
import { anyObject, type BodyOf, pageOf, text, time } from "../http/answers.ts";
import { pageQuery } from "../http/page-query.ts";
import { OPERATORS, PEOPLE, type Route, route } from "../http/route.ts";
import { CALL_STATUSES } from "../http/statuses.ts";

const waitingShape = z
  .strictObject({
    tool_call_id: text,
    tool_name: text,
    agent_id: text,
    agent_turn_id: text,
    arguments: anyObject,
    argument_layers: argumentLayers.optional(),
    tool_call_card_id: text,
    asked_at: time,
    expires_at: time,
  })
  .meta({ id: "WaitingCall" });

const decisionShape = z.strictObject({
  tool_call_id: text,
  status: z.enum(CALL_STATUSES),
  ...decisionFields,
  idempotent: z.boolean(),
});

const waitingBody = (call: WaitingCall, shown: ShownArguments | undefined): BodyOf<typeof waitingShape> => ({
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

export const approvalRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/approvals",
    roles: PEOPLE,
    gives: "work",
    summary: "Calls that wait for a person, longest first, with their arguments.",
    query: pageQuery,
    answers: { 200: pageOf(waitingShape) },
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
      summary:
        verb === "approve" ? "Lets a call run that waits for a person." : "Refuses a call that waits for a person.",
      answers: { 200: decisionShape },
      body: z.strictObject({
        reason: z.string().max(500).optional(),
        /** The person, where the token is shared by several. */
        by: z.string().min(1).max(128).optional(),
      }),
      handle: async ({ engine, params, body, caller, reply }) => {
        const { idempotent, status, ...decision } = await engine.approvals[verb]({
          projectId: params.project ?? "",
          toolCallId: params.call ?? "",
          by: body.by ?? (caller.token.label || caller.actorId),
          reason: body.reason,
          actor: actorOf(caller),
        });
        return reply(200, { tool_call_id: params.call ?? "", status, ...decisionBody(decision), idempotent });
      },
    }),
  ),
];
