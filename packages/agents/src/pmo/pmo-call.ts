// A call of the project manager's tools, reduced to what they need: who asks, from where, under which lease. Ids of what
// a call makes are derived from the call, so that a run that comes again finds what the first one made.

import type { HashText } from "@toolplane/protocol";
import { violation } from "@toolplane/protocol";
import type { ToolCall } from "@toolplane/sdk";

export interface PmoCall {
  readonly projectId: string;
  readonly toolCallId: string;
  readonly leaseId: string;
  readonly toolName: string;
  readonly callerId: string;
  readonly agentTurnId: string;
  readonly stepId: string | null;
  readonly channelId: string;
  readonly recursionDepth: number;
  readonly traceId: string | null;
  /** The run's own span. */
  readonly traceparent: string;
}

export const pmoCallOf = (call: ToolCall): PmoCall => {
  const { context, leaseId } = call;
  // Without a lease two runs could write at once; there is no way to get here but a gateway that hands out none.
  if (leaseId === undefined) throw violation("the project manager works under a lease only");
  return {
    projectId: context.projectId,
    toolCallId: call.toolCallId,
    leaseId,
    toolName: call.toolName,
    callerId: context.agentId,
    agentTurnId: context.agentTurnId,
    stepId: context.stepId,
    channelId: context.channelId,
    recursionDepth: context.recursionDepth,
    traceId: context.traceId,
    traceparent: call.traceparent,
  };
};

const HEX = "0123456789abcdef";
const UUID_LENGTH = 32;
/** A UUIDv7 says its time in its first half. */
const TIME_LENGTH = 16;

const isUuid = (text: string): boolean => text.length === UUID_LENGTH && [...text].every((char) => HEX.includes(char));

/** A UUIDv7 in form: as old as the call when that is one, and the same whenever it is asked for. */
export const derivedUuid = (toolCallId: string, part: number, sha256: HashText): string => {
  const hash = sha256(`${toolCallId}/${part}`);
  const time = isUuid(toolCallId) ? toolCallId.slice(0, TIME_LENGTH) : `${hash.slice(0, 12)}7${hash.slice(13, 16)}`;
  return `${time}8${hash.slice(-15)}`;
};

export const derivedAgentId = (profileBoxId: string, uuid: string): string => `${profileBoxId.toLowerCase()}_${uuid}`;
