// Whether an action a person took in a user interface may be carried out. Pure: the facts were read before.
// Checked in this order, and every refusal has a code of its own, because a user interface shows what to do by it.

import { isFilled, isRecord, type JsonObject, showName } from "@toolplane/protocol";
import { mergeActionMetadata, type UiAckStatus } from "@toolplane/protocol/agents";

export interface ActionFacts {
  /** From the headers. */
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The agent's pool; undefined when the project has no such agent, or it is inactive. */
  readonly workerTarget: string | undefined;
  readonly tool: { readonly uiAllowed: boolean } | undefined;
}

export interface Action {
  readonly actionId: string;
  readonly messageId: string | undefined;
  readonly toolName: string;
  readonly args: JsonObject;
}

export interface Refusal {
  readonly status: Extract<UiAckStatus, "rejected" | "busy">;
  readonly errorCode: string;
  readonly error: string;
}

export type Admission = { readonly action: Action } | { readonly refused: Refusal };

const no = (errorCode: string, error: string): Admission => ({ refused: { status: "rejected", errorCode, error } });

const isObject = (value: unknown): value is JsonObject => isRecord(value);

/** The identity that an acknowledgement is addressed to; without it there is no receiver. */
export const actionIdOf = (payload: Readonly<Record<string, unknown>>): string | undefined =>
  isFilled(payload.action_id) ? payload.action_id : undefined;

/** For a malformed action `facts` may be unread: the shape is checked first. */
export const planAdmission = (facts: ActionFacts, workerTarget: string): Admission => {
  const { payload } = facts;
  const actionId = actionIdOf(payload);
  if (actionId === undefined || facts.agentId === "" || !isFilled(payload.tool_name))
    return no("missing_required_fields", "an action names its action_id, its agent and its tool_name");
  if (!isObject(payload.args)) return no("invalid_args", "args is an object");
  if (facts.agentTurnId === "") return no("missing_agent_turn_id", "an action carries the header CG-Turn-Id");
  const { metadata = null, args } = payload;
  if (metadata !== null && !isObject(metadata)) return no("invalid_metadata", "metadata is an object");
  if (args.metadata !== undefined && args.metadata !== null && !isObject(args.metadata))
    return no("invalid_metadata", "args.metadata is an object");
  if (facts.workerTarget === undefined)
    return no("agent_not_found", `the project has no active agent ${showName(facts.agentId)}`);
  if (facts.workerTarget !== workerTarget)
    return no("invalid_worker_target", `the agent belongs to pool ${facts.workerTarget}, not to ${workerTarget}`);
  if (facts.tool === undefined) return no("tool_definition_missing", `the project has no tool ${payload.tool_name}`);
  if (!facts.tool.uiAllowed)
    return no("ui_not_allowed", `${payload.tool_name} may not be called from a user interface (options.ui_allowed)`);
  const messageId = isFilled(payload.message_id) ? payload.message_id : undefined;
  const merged = mergeActionMetadata({
    action_id: actionId,
    tool_name: payload.tool_name,
    args,
    ...(metadata === null ? {} : { metadata: metadata as JsonObject }),
  });
  return { action: { actionId, messageId, toolName: payload.tool_name, args: merged } };
};
