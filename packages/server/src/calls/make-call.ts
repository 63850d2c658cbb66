// Makes one call, for every way it can be asked for: the single route, an item of a batch, a program in this process. The checks
// are here, so they are the same for all.

import { type CallAnswer, type CallRequest, ENDS_OF_CALL, type Engine, type ToolName } from "@toolplane/engine";
import {
  DEFAULT_CHANNEL,
  type HeaderMap,
  isToolplaneError,
  type JsonObject,
  nearest,
  parseWith,
  refuseUnstorable,
  ToolplaneError,
} from "@toolplane/protocol";
import { checkCallerIdentity, UnreadableJson } from "@toolplane/protocol/agents";
import { z } from "zod";
import type { ToolHosts } from "../hosts/tool-hosts.ts";
import { checkMayCall } from "../http/agent-rights.ts";
import { API_ACTOR, callerAgent } from "../http/caller-agent.ts";
import type { Who } from "../http/own.ts";
import { type WebhookDoor, webhooksAreOff } from "../webhooks/webhook-door.ts";

export const MAX_WAIT_SECONDS = 300;

export const callRequestBody = z.strictObject({
  tool_name: z.string().min(1).max(64),
  arguments: z.unknown().optional(),
  agent_id: z.string().min(1).max(128).optional(),
  channel_id: z.string().min(1).max(64).optional(),
  idempotency_key: z.string().min(1).max(255).optional(),
  wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).optional(),
  not_before: z.iso.datetime({ offset: true }).optional(),
  /** The receiver that is told when the call is over, or of the events that it names. */
  webhook: z
    .strictObject({
      url: z.string().min(1).max(2_048),
      secret: z.string().min(1).max(256),
      events: z.array(z.string().min(1).max(64)).min(1).max(20).optional(),
    })
    .optional(),
});

export type CallRequestBody = z.infer<typeof callRequestBody>;

export interface Asked {
  readonly engine: Pick<Engine, "calls" | "tools" | "agentProfiles" | "webhooks">;
  readonly toolHosts: ToolHosts;
  readonly caller: Who;
  readonly projectId: string;
  readonly signal: AbortSignal;
  /** Undefined where no webhooks are sent. */
  readonly webhooks?: WebhookDoor | undefined;
}

/** The name of a tool that the caller probably meant: `did_you_mean` for programs, a question for people. */
const withSuggestion = (error: ToolplaneError, toolName: string, names: readonly ToolName[]): ToolplaneError => {
  const offered = names.filter(({ status }) => status === "active" || status === "paused");
  const meant = nearest(
    toolName,
    offered.map((one) => one.toolName),
  );
  // A tool of exactly this name was registered a moment after the call was asked for.
  if (meant === undefined || meant === toolName) return error;
  return new ToolplaneError("not_found", `${error.message}; did you mean ${meant}?`, {
    detail: { ...error.detail, did_you_mean: meant },
  });
};

/** A tool that is not found may wait for a person, or belong to a host that has not started yet: then the error says so. */
const explainMissing = async (error: unknown, { engine, toolHosts }: Asked, request: CallRequest): Promise<unknown> => {
  if (!isToolplaneError(error) || error.code !== "not_found") return error;
  const { projectId, toolName } = request;
  const names = await engine.tools.toolNames(projectId);
  const known = names.find((one) => one.toolName === toolName);
  if ((known?.status === "deleted" || known?.status === "pending") && known.pendingVersion !== undefined) {
    const todo = `version ${known.pendingVersion} waits: toolplane tools accept ${toolName} --version ${known.pendingVersion}`;
    const why = known.status === "pending" ? "it waits until a person accepts it" : "it was deleted";
    return new ToolplaneError("not_found", `${error.message}; ${why}`, { detail: { todo } });
  }
  const late = toolHosts
    .list(projectId)
    .find(({ setting: { name, prefix }, description }) => !description && toolName.startsWith(prefix ?? `${name}__`));
  const problem = late && toolHosts.problemOf(projectId, late.setting.target);
  if (problem === undefined || (known !== undefined && known.status !== "deleted"))
    return known === undefined ? withSuggestion(error, toolName, names) : error;
  return new ToolplaneError("not_found", `${error.message}; ${problem.why}, and its tools come when it is ready`);
};

const requestOf = ({ caller, projectId }: Asked, body: CallRequestBody, trace: Headers | undefined): CallRequest => ({
  projectId,
  toolName: body.tool_name,
  arguments: body.arguments,
  agentId: callerAgent(caller, body.agent_id),
  // What an agent's program has read is not known here, also when its token is bound to no agent.
  external: caller.token.role === "agent" ? true : undefined,
  channelId: body.channel_id,
  idempotencyKey: body.idempotency_key,
  notBeforeMs: body.not_before === undefined ? undefined : Date.parse(body.not_before),
  traceparent: trace?.get("traceparent") ?? undefined,
  tracestate: trace?.get("tracestate") ?? undefined,
});

export interface Said {
  /** What the request's headers say about the caller: it must agree with the call. */
  readonly headers?: HeaderMap | undefined;
  /** Headers with the trace that the call joins; the calls of a batch have traces of their own. */
  readonly trace?: Headers | undefined;
  /** The id of a call that continues another: derived from that one's, so that it exists once. */
  readonly toolCallId?: string | undefined;
  /** The arguments were written by a model or a program of which the plane does not know what it has read. */
  readonly external?: boolean | undefined;
  /** What people answered to the questions of the call that it continues. */
  readonly answers?: JsonObject | undefined;
}

/**
 * A call that is followed by a webhook. The webhook is stored first, under the id that the call gets and as its own id, so that no
 * event of the call can be missed and its deliveries are found by the call; when no call was made under that id, the webhook goes again.
 */
const callWithWebhook = async (
  { engine, caller, projectId, webhooks, signal }: Asked,
  request: CallRequest,
  waitMs: number,
  asked: NonNullable<CallRequestBody["webhook"]>,
): Promise<CallAnswer> => {
  if (webhooks === undefined) throw webhooksAreOff();
  const accepted = webhooks.accept(projectId, { ...asked, events: asked.events ?? ENDS_OF_CALL });
  const toolCallId = accepted.webhookId;
  await engine.webhooks.create({ ...accepted, projectId, toolCallId, createdBy: caller.actorId });
  let made: string | undefined;
  try {
    const answer = await engine.calls.call({ ...request, toolCallId }, waitMs, signal);
    made = answer.toolCallId;
    return answer;
  } finally {
    if (made !== toolCallId) await engine.webhooks.remove(projectId, accepted.webhookId);
  }
};

/** The call as it is when it is settled, when its wait is over, or when the signal ends the wait. */
export const makeCall = async (
  asked: Asked,
  body: CallRequestBody,
  { headers, trace, toolCallId, answers, external }: Said = {},
): Promise<CallAnswer> => {
  const plain = requestOf(asked, body, trace);
  const { projectId, channelId = DEFAULT_CHANNEL, agentId = API_ACTOR } = plain;
  const saidDepth = headers && checkCallerIdentity(headers, { projectId, channelId, agentId });
  const request = { ...plain, saidDepth, toolCallId, answers, external: external ?? plain.external };
  await checkMayCall(asked.engine, asked.caller, projectId, request.toolName);
  try {
    const waitMs = (body.wait_seconds ?? 0) * 1000;
    if (body.webhook !== undefined) return await callWithWebhook(asked, request, waitMs, body.webhook);
    return await asked.engine.calls.call(request, waitMs, asked.signal);
  } catch (error) {
    throw await explainMissing(error, asked, request);
  }
};

/** An item of a batch, not checked yet: a bad item is refused alone. */
export const parseCall = (input: unknown): CallRequestBody => {
  if (input instanceof UnreadableJson) throw input.error;
  refuseUnstorable(input, "the call");
  return parseWith(callRequestBody, input, "the call");
};
