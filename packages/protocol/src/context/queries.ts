// Questions to a context: what it must have, which subjects it speaks on, whether a head is still the one it knew.

import { violation } from "../errors/toolplane-error.ts";
import { type Category, type Component, formatSubject, PROTOCOL_VERSION, type Subject } from "../subjects/subject.ts";
import { expandSubjectTemplate } from "../subjects/target-template.ts";
import type { CGContext } from "./context.ts";

const required = (value: string | null, name: string): string => {
  if (value === null || value === "") throw violation(`context has no ${name}`);
  return value;
};

export const requireTurn = (context: CGContext): string => required(context.agentTurnId, "agent_turn_id");
export const requireStep = (context: CGContext): string => required(context.stepId, "step_id");
export const requireToolCall = (context: CGContext): string => required(context.toolCallId, "tool_call_id");
export const requireParentStep = (context: CGContext): string => required(context.parentStepId, "parent_step_id");

export interface SubjectParts {
  readonly category: Category;
  readonly component: Component;
  readonly target: string;
  readonly suffix: string;
}

/** A subject in the context's project and channel. */
export const contextSubject = (context: CGContext, parts: SubjectParts, version = PROTOCOL_VERSION): string =>
  formatSubject({ version, projectId: context.projectId, channelId: context.channelId, ...parts });

/** A tool definition's `target_subject` for this caller. */
export const renderSubjectTemplate = (context: CGContext, template: string): Subject =>
  expandSubjectTemplate(template, context);

/** Who caused something: the source columns of an edge. */
export interface MessageSource {
  readonly agentId: string;
  readonly agentTurnId: string | null;
  readonly stepId: string | null;
}

export const messageSource = (context: CGContext): MessageSource => ({
  agentId: context.agentId,
  agentTurnId: context.agentTurnId === "" ? null : context.agentTurnId,
  stepId: context.stepId,
});

/** The part of an agent's head that says which turn it is in. */
export interface HeadTurn {
  readonly activeAgentTurnId: string | null;
  readonly turnEpoch: number;
}

/** The head is in the very turn and epoch the context speaks of (I2). A context outside a turn matches nothing. */
export const matchesHead = (context: CGContext, head: HeadTurn): boolean =>
  context.agentTurnId !== "" && head.activeAgentTurnId === context.agentTurnId && head.turnEpoch === context.turnEpoch;

/** The head is in the same turn, perhaps in a later epoch. Only a stop may be that late. */
export const matchesHeadOrNewer = (context: CGContext, head: HeadTurn): boolean =>
  context.agentTurnId !== "" && head.activeAgentTurnId === context.agentTurnId && head.turnEpoch >= context.turnEpoch;
