// A call of the project manager's tools, reduced to what they need: caller, place, lease. Ids of what a call makes are derived
// from the call, so that a repeated run finds what the first one made.

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
  // Without a lease two runs could write at once. Only a gateway that gives no leases could bring us here.
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

export const derivedAgentId = (profileBoxId: string, uuid: string): string => `${profileBoxId.toLowerCase()}_${uuid}`;
