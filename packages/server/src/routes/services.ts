// The routes of a tool service: claim, read the card, heartbeat, release, settle; or the protocol's two steps.
// gateway/service-operations.ts does the work, for HTTP and NATS; here is only how it is asked for over HTTP. A tool's token
// reaches only the targets it names.

import { HEADERS, ToolplaneError } from "@toolplane/protocol";
import type { Context } from "hono";
import { z } from "zod";
import {
  type ClaimAsked,
  checkTarget,
  claimCalls,
  claimFields,
  MAX_CLAIM,
  waitSeconds,
} from "../gateway/claim-calls.ts";
import { carryOutExchange, exchangeBody, exchangedBody, exchangeWaitMs } from "../gateway/exchange.ts";
import { commandShape } from "../gateway/lease-operations.ts";
import { SERVICE_OPERATIONS } from "../gateway/service-operations.ts";
import type { ServiceAnswer, ServiceOperation, ServiceRequest } from "../gateway/service-request.ts";
import { answerList } from "../http/answer-list.ts";
import { protocolHeaders } from "../http/protocol-headers.ts";
import { type Method, type Route, type RouteCall, route, SERVICES } from "../http/route.ts";
import { serviceCaller } from "../http/service-caller.ts";
import { checkUnread, prepareCommands } from "./command-answer.ts";

const answer = (context: Context, { status, body }: ServiceAnswer): Response => context.json(body, status);

type Asked = Pick<RouteCall<unknown, unknown>, "engine" | "params" | "body" | "caller" | "context">;

const requestOf = ({ engine, params, body, caller, context }: Asked): ServiceRequest<unknown> => ({
  engine,
  caller: serviceCaller(caller),
  projectId: params.project ?? "",
  toolCallId: params.call ?? "",
  headers: protocolHeaders(context.req.raw.headers),
  body,
});

/** The bodies of cards and reports have no field for the lease. */
const leaseIn = ({ context }: Pick<Asked, "context">): string | undefined => context.req.header("cg-lease");

const TARGET = "/projects/:project/tool-services/:target";

interface Wanted {
  readonly max: number;
  readonly holder?: string | undefined;
  readonly definitions?: readonly string[] | undefined;
}

const claimOf = (
  call: Asked & Pick<RouteCall<unknown, unknown>, "signalFor">,
  wanted: Wanted,
  waitMs: number,
): ClaimAsked => {
  const { engine, caller, projectId, headers } = requestOf(call);
  const target = call.params.target ?? "";
  checkTarget(caller, target, projectId, headers);
  const { max, definitions, holder = `${call.caller.actorId} (${call.caller.token.tokenId})` } = wanted;
  return { engine, projectId, target, holder, max, waitMs, definitions, signal: call.signalFor(waitMs) };
};

const readingOf = ({ maxBytes, anyText, parts }: ServiceOperation) => ({ maxBytes, anyText, parts });

/** A route that asks for one operation on one call. */
const onCall = (method: Method, verb: string, summary: string, operation: ServiceOperation): Route =>
  route({
    method,
    path: `/projects/:project/calls/:call/${verb}`,
    roles: SERVICES,
    gives: "served",
    summary,
    answers: operation.answers,
    ...(method === "GET" ? {} : { body: operation.body, ...readingOf(operation) }),
    handle: async (call) => answer(call.context, await operation.run({ ...requestOf(call), body: call.body ?? {} })),
  });

const claimed = z.strictObject({ commands: z.array(commandShape) });

export const serviceRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: `${TARGET}/claim`,
    roles: SERVICES,
    gives: "served",
    summary: "Leases calls of a target to a tool service.",
    answers: { 200: claimed },
    body: z.strictObject({
      ...claimFields,
      max: z.number().int().min(1).max(MAX_CLAIM).default(1),
      wait_seconds: waitSeconds.default(20),
    }),
    handle: async (call) => {
      checkUnread(call);
      const calls = await claimCalls(claimOf(call, call.body, call.body.wait_seconds * 1_000));
      const { commands, openAnswer } = await prepareCommands(call, calls);
      return answerList({ ...call, openAnswer }, "commands", commands, {});
    },
  }),
  route({
    method: "POST",
    path: `${TARGET}/exchange`,
    roles: SERVICES,
    gives: "served",
    summary: "Results, heartbeats, releases and parts of a tool service, and its request for work, in one.",
    answers: { 200: exchangedBody },
    body: exchangeBody,
    ...readingOf(SERVICE_OPERATIONS.exchange),
    handle: async (call) => {
      const { body, log } = call;
      const asked = { ...requestOf(call), body };
      checkTarget(asked.caller, call.params.target ?? "", asked.projectId, asked.headers);
      if (body.max > 0) checkUnread(call);
      const claim = () => claimCalls(claimOf(call, body, exchangeWaitMs(body)));
      const { said, commands: leased, faults } = await carryOutExchange(asked, claim);
      const [fault] = faults;
      if (fault !== undefined)
        log.error("an item that a tool service sent could not be handled", {
          target: call.params.target,
          code: fault.code,
          cause: String(fault.cause ?? fault),
          more: faults.length - 1,
        });
      const { commands, openAnswer } = await prepareCommands(call, leased);
      return answerList({ ...call, openAnswer }, "commands", commands, said);
    },
  }),
  onCall("GET", "card", "The call's card, for the service that holds the call.", SERVICE_OPERATIONS.get_card),
  onCall("POST", "heartbeat", "Extends a lease, and says whether to stop.", SERVICE_OPERATIONS.heartbeat),
  onCall("POST", "release", "Gives back a call that was not started.", SERVICE_OPERATIONS.release),
  onCall("POST", "result", "Settles a call in one step.", SERVICE_OPERATIONS.settle),
  onCall("POST", "parts", "Shows parts of a result to those who listen now.", SERVICE_OPERATIONS.parts),
  route({
    method: "POST",
    path: "/projects/:project/cards",
    roles: SERVICES,
    gives: "served",
    summary: "Writes a `tool.result` card: the first of the protocol's two steps.",
    headers: { "CG-Lease": "The lease of a leased call." },
    answers: SERVICE_OPERATIONS.put_card.answers,
    body: SERVICE_OPERATIONS.put_card.body,
    ...readingOf(SERVICE_OPERATIONS.put_card),
    keepsIntegers: true,
    handle: async (call) => {
      const toolCallId = call.body.tool_call_id;
      if (typeof toolCallId !== "string" || toolCallId === "")
        throw new ToolplaneError("bad_request", "a tool.result card names its call: set tool_call_id");
      return answer(
        call.context,
        await SERVICE_OPERATIONS.put_card.run({
          ...requestOf(call),
          body: call.body,
          toolCallId,
          leaseId: leaseIn(call),
        }),
      );
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/reports",
    roles: SERVICES,
    gives: "served",
    summary: "Reports a result card: the second of the protocol's two steps.",
    headers: { "CG-Tool-Call-Id": "The call that the report is about.", "CG-Lease": "The lease of a leased call." },
    answers: SERVICE_OPERATIONS.report.answers,
    body: SERVICE_OPERATIONS.report.body,
    maxBytes: SERVICE_OPERATIONS.report.maxBytes,
    handle: async (call) => {
      const request = requestOf(call);
      const toolCallId = request.headers[HEADERS.toolCallId];
      if (toolCallId === undefined)
        throw new ToolplaneError("protocol_violation", `a report names its call in the ${HEADERS.toolCallId} header`);
      const asked = { ...request, body: call.body, toolCallId, leaseId: leaseIn(call) };
      return answer(call.context, await SERVICE_OPERATIONS.report.run(asked));
    },
  }),
];
