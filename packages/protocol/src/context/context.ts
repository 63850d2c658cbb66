// CGContext: who a message is about, as one immutable value. Every change is a new value (evolveContext).
// Invariants: ids are trimmed and printable ASCII, so they can always be written as headers; project and channel are
// subject tokens; the depth field is the truth and a depth header is only its copy (I9, W-01): building a context
// rewrites the header, so a stale one can never come back as the depth.

import { violation } from "../errors/toolplane-error.ts";
import { parseCountOrZero } from "../headers/decimal.ts";
import { type HeaderMap, isHeaderText, normalizeHeaders, type RawHeaders } from "../headers/header-map.ts";
import { HEADERS } from "../headers/header-names.ts";
import { DEFAULT_CHANNEL } from "../subjects/subject.ts";
import { parseToken } from "../subjects/token.ts";

export interface CGContext {
  readonly projectId: string;
  readonly channelId: string;
  readonly agentId: string;
  /** Empty outside a turn. */
  readonly agentTurnId: string;
  readonly turnEpoch: number;
  readonly recursionDepth: number;
  readonly stepId: string | null;
  readonly toolCallId: string | null;
  readonly traceId: string | null;
  readonly parentAgentId: string | null;
  readonly parentAgentTurnId: string | null;
  readonly parentStepId: string | null;
  readonly headers: HeaderMap;
}

type OptionalText = string | null | undefined;

/** What a context is made from: only project and agent are needed. */
export interface ContextFields {
  readonly projectId: string;
  readonly agentId: string;
  readonly channelId?: OptionalText;
  readonly agentTurnId?: OptionalText;
  readonly turnEpoch?: number | string | null | undefined;
  readonly recursionDepth?: number | string | null | undefined;
  readonly stepId?: OptionalText;
  readonly toolCallId?: OptionalText;
  readonly traceId?: OptionalText;
  readonly parentAgentId?: OptionalText;
  readonly parentAgentTurnId?: OptionalText;
  readonly parentStepId?: OptionalText;
  readonly headers?: RawHeaders;
}

const textOrEmpty = (value: unknown, name: string): string => {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") throw violation(`${name} is not a string`);
  const text = value.trim();
  if (!isHeaderText(text)) throw violation(`${name} is not printable ASCII, or too long`);
  return text;
};

const requiredText = (value: unknown, name: string): string => {
  const text = textOrEmpty(value, name);
  if (text === "") throw violation(`${name} is missing`);
  return text;
};

const textOrNull = (value: unknown, name: string): string | null => {
  const text = textOrEmpty(value, name);
  return text === "" ? null : text;
};

/** The depth header is set from the depth, whatever it was before. */
const mirrorDepth = (headers: HeaderMap, depth: number): HeaderMap => {
  const said = headers[HEADERS.recursionDepth];
  return said === undefined || said === String(depth)
    ? headers
    : { ...headers, [HEADERS.recursionDepth]: String(depth) };
};

/** Builds from fields whose header map is already normal and owned by the caller; it is frozen as it is. */
export const buildContext = (fields: ContextFields, headers: HeaderMap): CGContext => {
  const recursionDepth = parseCountOrZero(fields.recursionDepth, "recursion_depth");
  return Object.freeze({
    projectId: parseToken(requiredText(fields.projectId, "project_id"), "project_id"),
    channelId: parseToken(textOrEmpty(fields.channelId, "channel_id") || DEFAULT_CHANNEL, "channel_id"),
    agentId: requiredText(fields.agentId, "agent_id"),
    agentTurnId: textOrEmpty(fields.agentTurnId, "agent_turn_id"),
    turnEpoch: parseCountOrZero(fields.turnEpoch, "turn_epoch"),
    recursionDepth,
    stepId: textOrNull(fields.stepId, "step_id"),
    toolCallId: textOrNull(fields.toolCallId, "tool_call_id"),
    traceId: textOrNull(fields.traceId, "trace_id"),
    parentAgentId: textOrNull(fields.parentAgentId, "parent_agent_id"),
    parentAgentTurnId: textOrNull(fields.parentAgentTurnId, "parent_agent_turn_id"),
    parentStepId: textOrNull(fields.parentStepId, "parent_step_id"),
    headers: Object.freeze(mirrorDepth(headers, recursionDepth)),
  });
};

export const createContext = (fields: ContextFields): CGContext =>
  buildContext(fields, normalizeHeaders(fields.headers));

export type ContextPatch = Partial<ContextFields>;

const pick = <T>(changed: T | undefined, current: T): T => (changed === undefined ? current : changed);

/** A new context with some fields changed; a field that is undefined stays, null empties it. */
export const evolveContext = (context: CGContext, patch: ContextPatch): CGContext =>
  buildContext(
    {
      projectId: pick(patch.projectId, context.projectId),
      agentId: pick(patch.agentId, context.agentId),
      channelId: pick(patch.channelId, context.channelId),
      agentTurnId: pick(patch.agentTurnId, context.agentTurnId),
      turnEpoch: pick(patch.turnEpoch, context.turnEpoch),
      recursionDepth: pick(patch.recursionDepth, context.recursionDepth),
      stepId: pick(patch.stepId, context.stepId),
      toolCallId: pick(patch.toolCallId, context.toolCallId),
      traceId: pick(patch.traceId, context.traceId),
      parentAgentId: pick(patch.parentAgentId, context.parentAgentId),
      parentAgentTurnId: pick(patch.parentAgentTurnId, context.parentAgentTurnId),
      parentStepId: pick(patch.parentStepId, context.parentStepId),
    },
    patch.headers === undefined ? context.headers : normalizeHeaders(patch.headers),
  );
