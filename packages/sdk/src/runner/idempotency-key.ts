// The key a tool hands to systems that take one: the same however often the call is run, different for every other call.
// It is made from the recorded call, never from its arguments: a model that is asked again may write them differently.
// The agent and the turn belong to it, because call ids may come from a model and repeat (W-03).

import { type CGContext, canonicalText, durableLabel, type HashText } from "@toolplane/protocol";

const identity = (context: CGContext): string =>
  canonicalText([context.agentId, context.agentTurnId, context.toolCallId]);

export const idempotencyKey = (context: CGContext, toolName: string, sha256: HashText): string =>
  `tool.${durableLabel(context.projectId)}.${durableLabel(toolName)}.${sha256(identity(context))}`;

/** Two deliveries with the same key are one call, whatever their payloads say (D-19). */
export const runKey = (context: CGContext): string => `${context.projectId}/${identity(context)}`;
