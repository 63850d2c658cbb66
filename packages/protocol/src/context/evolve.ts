// The named changes of a context. Each says what it touches; everything else stays.

import { type CGContext, evolveContext } from "./context.ts";

export const withToolCall = (context: CGContext, toolCallId: string | null): CGContext =>
  evolveContext(context, { toolCallId });

/**
 * The sender of a report: the tool service speaks for itself, outside any turn. Its place in the project, the channel
 * and the trace stay the command's.
 */
export const asActor = (context: CGContext, actor: string): CGContext =>
  evolveContext(context, { agentId: actor, agentTurnId: "", turnEpoch: 0, stepId: null, toolCallId: null });
