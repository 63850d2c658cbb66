// What a tool service does: claim, read the card, heartbeat, release, settle; or the protocol's two steps.
// What is done is in gateway/service-operations.ts, for this door and the one on NATS; here is only how it is asked for
// over HTTP. A tool's token reaches only the targets it names.

import { type LeasedCall, readInTurns } from "@toolplane/engine";
import { HEADERS, headersFromHttp, isToken, showName, ToolplaneError } from "@toolplane/protocol";
import type { Context } from "hono";
import { z } from "zod";
import { commandBody } from "../gateway/lease-operations.ts";
import { SERVICE_OPERATIONS } from "../gateway/service-operations.ts";
import {
  refuseTarget,
  type ServiceAnswer,
  type ServiceOperation,
  type ServiceRequest,
} from "../gateway/service-request.ts";
import { answerList } from "../http/answer-list.ts";
import { noProject } from "../http/known-project.ts";
import { type Method, type Route, type RouteCall, route, SERVICES } from "../http/route.ts";
import { serviceCaller } from "../http/service-caller.ts";

const MAX_WAIT_SECONDS = 60;
/** Longer than the name of any target a tool may have. */
const MAX_TARGET_LENGTH = 128;

/** With its card a command can be started at once; cards beyond this are asked for one by one. */
const MAX_CARD_CHARS = 8 * 1024 * 1024;

const claimBody = (calls: readonly LeasedCall[]): Promise<unknown[]> => {
  let left = MAX_CARD_CHARS;
  return readInTurns(
    calls,
    ({ cardBody }) => cardBody.length,
    (call) => {
      left -= call.cardBody.length;
      return left < 0 ? commandBody(call) : { ...commandBody(call), card: JSON.parse(call.cardBody) as unknown };
    },
  );
};

const answer = (context: Context, { status, body }: ServiceAnswer): Response => context.json(body, status);

type Asked = Pick<RouteCall<unknown, unknown>, "engine" | "params" | "body" | "caller" | "context">;

const requestOf = ({ engine, params, body, caller, context }: Asked): ServiceRequest<unknown> => ({
  engine,
  caller: serviceCaller(caller),
  projectId: params.project ?? "",
  toolCallId: params.call ?? "",
  headers: headersFromHttp(context.req.raw.headers),
  body,
});

/** Cards and reports have no room for it in their bodies. */
const leaseIn = ({ context }: Pick<Asked, "context">): string | undefined => context.req.header("cg-lease");

/** A route that asks for one operation on one call. */
const onCall = (method: Method, verb: string, operation: ServiceOperation): Route =>
  route({
    method,
    path: `/projects/:project/calls/:call/${verb}`,
    roles: SERVICES,
    gives: "served",
    ...(method === "GET" ? {} : { body: operation.body, maxBytes: operation.maxBytes, anyText: operation.anyText }),
    handle: async (call) => answer(call.context, await operation.run({ ...requestOf(call), body: call.body ?? {} })),
  });

export const serviceRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/projects/:project/tool-services/:target/claim",
    roles: SERVICES,
    gives: "served",
    body: z.strictObject({
      max: z.number().int().min(1).max(256).default(1),
      wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).default(20),
      /** Who runs it, as people will read it in `why`. */
      holder: z.string().min(1).max(128).optional(),
    }),
    handle: async ({ engine, params, body, caller, context, signal }) => {
      const target = params.target ?? "";
      // It would wait for ever for work that cannot come.
      if (!isToken(target) || target.length > MAX_TARGET_LENGTH)
        throw new ToolplaneError("bad_request", `a target is letters, digits, _ and -, not ${showName(target)}`);
      const service = serviceCaller(caller);
      if (service.targets?.includes(target) === false) throw refuseTarget(service, target);
      const said = headersFromHttp(context.req.raw.headers)[HEADERS.projectId];
      if (said !== undefined && said.trim() !== params.project)
        throw new ToolplaneError("protocol_violation", `${HEADERS.projectId} names another project than the route`);
      const holder = body.holder ?? `${caller.actorId} (${caller.token.tokenId})`;
      const request = { projectId: params.project ?? "", target, holder, max: body.max };
      // Before the look, and mostly from memory: the look is the wait's own, and an empty queue is looked at once.
      if (!(await engine.projects.isKnown(request.projectId))) throw noProject(request.projectId);
      const calls = await engine.calls.claim(request, body.wait_seconds * 1000, signal);
      // The client went away while it waited: what it cannot receive goes back at once.
      if (signal.aborted && calls.length > 0) {
        await Promise.all(calls.map(({ facts, lease }) => engine.calls.release({ ...facts, leaseId: lease.id })));
        return context.json({ commands: [] });
      }
      return answerList(context, "commands", await claimBody(calls));
    },
  }),
  onCall("GET", "card", SERVICE_OPERATIONS.get_card),
  onCall("POST", "heartbeat", SERVICE_OPERATIONS.heartbeat),
  onCall("POST", "release", SERVICE_OPERATIONS.release),
  onCall("POST", "result", SERVICE_OPERATIONS.settle),
  onCall("POST", "parts", SERVICE_OPERATIONS.parts),
  route({
    method: "POST",
    path: "/projects/:project/cards",
    roles: SERVICES,
    gives: "served",
    body: SERVICE_OPERATIONS.put_card.body,
    maxBytes: SERVICE_OPERATIONS.put_card.maxBytes,
    anyText: SERVICE_OPERATIONS.put_card.anyText,
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
