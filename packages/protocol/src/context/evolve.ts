// The named changes of a context. Each says what it touches; everything else stays.

import { type CGContext, evolveContext } from "./context.ts";

export const withTurnEpoch = (context: CGContext, turnEpoch: number): CGContext =>
  evolveContext(context, { turnEpoch });

export const withToolCall = (context: CGContext, toolCallId: string | null): CGContext =>
  evolveContext(context, { toolCallId });

export const withTurn = (context: CGContext, agentTurnId: string, turnEpoch: number): CGContext =>
  evolveContext(context, { agentTurnId, turnEpoch });

/** The computed depth; a depth header is rewritten with it (I9). */
export const withRecursionDepth = (context: CGContext, recursionDepth: number): CGContext =>
  evolveContext(context, { recursionDepth });

export const withNewStep = (context: CGContext, stepId: string): CGContext => evolveContext(context, { stepId });

export interface RestoredState {
  readonly parentStepId?: string | null | undefined;
  readonly traceId?: string | null | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What a stored state knows wins; what it does not know (null) is kept. */
export const withRestoredState = (context: CGContext, state: RestoredState): CGContext =>
  evolveContext(context, {
    parentStepId: state.parentStepId ?? undefined,
    traceId: state.traceId ?? undefined,
    headers: state.headers ?? undefined,
  });

/**
 * The sender of a report: the tool service speaks for itself, outside any turn. Its place in the project, the channel
 * and the trace stay the command's.
 */
export const asActor = (context: CGContext, actor: string): CGContext =>
  evolveContext(context, { agentId: actor, agentTurnId: "", turnEpoch: 0, stepId: null, toolCallId: null });
