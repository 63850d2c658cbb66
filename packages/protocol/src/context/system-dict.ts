// The context as a plain record with wire names (12 fields, no headers), its inverse, and the same as span attributes.

import { violation } from "../errors/toolplane-error.ts";
import type { RawHeaders } from "../headers/header-map.ts";
import { type CGContext, type ContextFields, createContext } from "./context.ts";

export interface SystemDict {
  readonly project_id: string;
  readonly channel_id: string;
  readonly agent_id: string;
  readonly agent_turn_id: string;
  readonly turn_epoch: number;
  readonly step_id: string | null;
  readonly tool_call_id: string | null;
  readonly trace_id: string | null;
  readonly parent_agent_id: string | null;
  readonly parent_agent_turn_id: string | null;
  readonly parent_step_id: string | null;
  readonly recursion_depth: number;
}

export const systemDict = (context: CGContext): SystemDict => ({
  project_id: context.projectId,
  channel_id: context.channelId,
  agent_id: context.agentId,
  agent_turn_id: context.agentTurnId,
  turn_epoch: context.turnEpoch,
  step_id: context.stepId,
  tool_call_id: context.toolCallId,
  trace_id: context.traceId,
  parent_agent_id: context.parentAgentId,
  parent_agent_turn_id: context.parentAgentTurnId,
  parent_step_id: context.parentStepId,
  recursion_depth: context.recursionDepth,
});

const FIELD_OF = {
  project_id: "projectId",
  channel_id: "channelId",
  agent_id: "agentId",
  agent_turn_id: "agentTurnId",
  turn_epoch: "turnEpoch",
  step_id: "stepId",
  tool_call_id: "toolCallId",
  trace_id: "traceId",
  parent_agent_id: "parentAgentId",
  parent_agent_turn_id: "parentAgentTurnId",
  parent_step_id: "parentStepId",
  recursion_depth: "recursionDepth",
} as const satisfies Record<keyof SystemDict, keyof ContextFields>;

/** Reads a stored record; unknown keys are ignored, wrong ones refused. */
export const contextFromSystemDict = (dict: unknown, headers?: RawHeaders): CGContext => {
  if (typeof dict !== "object" || dict === null || Array.isArray(dict)) throw violation("context is not an object");
  const fields: Record<string, unknown> = { headers };
  for (const [wireName, field] of Object.entries(FIELD_OF)) {
    if (Object.hasOwn(dict, wireName)) fields[field] = (dict as Readonly<Record<string, unknown>>)[wireName];
  }
  // createContext checks each field at run time; the record comes from storage, so the type is a claim until then.
  return createContext(fields as unknown as ContextFields);
};

export type TelemetryAttributes = Readonly<Record<`cg.${keyof SystemDict}`, string | number>>;

/** Span attributes `cg.project_id` ... `cg.parent_step_id`; what is not set is left out. */
export const telemetryAttributes = (context: CGContext): Partial<TelemetryAttributes> => {
  const attributes: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(systemDict(context))) {
    if (value !== null && value !== "") attributes[`cg.${name}`] = value;
  }
  return attributes;
};
