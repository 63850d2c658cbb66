// Where the commands of a tool go. Registration parses `target_subject` as a subject, never as text (W-19); dispatch
// parses it again with the caller's ids, so that no id can lead a command out of its project.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { formatSubject, PROTOCOL_VERSION, type Subject } from "../subjects/subject.ts";
import { expandSubjectTemplate, parseToolTarget, type TemplateIds } from "../subjects/target-template.ts";
import type { ToolDefinition } from "./definition.ts";
import { isReservedToolName } from "./tool-name.ts";

export interface TargetScope {
  readonly projectId: string;
  /** The active protocol version. A payload-style service may have the older one; a tool of any other would never be reached. */
  readonly version: string;
  readonly internal?: boolean | undefined;
}

const PMO_TARGET = "pmo";
const PMO_SUFFIX = "internal.";

const refuse = (why: string, cause?: unknown): ToolplaneError =>
  new ToolplaneError("bad_request", why, { detail: { path: "$.target_subject" }, cause });

const isPmoSubject = (subject: Subject): boolean =>
  subject.category === "cmd" &&
  subject.component === "sys" &&
  subject.target === PMO_TARGET &&
  subject.suffix.startsWith(PMO_SUFFIX);

const tryPmoSubject = (template: string, { projectId, version }: TargetScope): boolean => {
  const subject = expandSubjectTemplate(template, { projectId, channelId: "public", agentId: "agent" });
  return subject.version === version && subject.projectId === projectId && isPmoSubject(subject);
};

/**
 * Throws `bad_request` unless commands sent there reach a tool service (or, for internal tools, the project manager). Says
 * whether that service is a payload-style one.
 */
export const checkTargetSubject = (template: string, scope: TargetScope): boolean => {
  try {
    if (scope.internal === true && tryPmoSubject(template, scope)) return false;
    const { target, isPayloadStyle } = parseToolTarget(template, scope.projectId, scope.version);
    if (target === PMO_TARGET) throw refuse(`target_subject: the target ${PMO_TARGET} is the project manager's own`);
    return isPayloadStyle;
  } catch (error) {
    if (!(error instanceof ToolplaneError)) throw error;
    const why = error.message.startsWith("target_subject") ? error.message : `target_subject: ${error.message}`;
    throw refuse(why, error);
  }
};

/**
 * The subject of one command: the definition found by (project, tool_name) says where, the caller's ids fill it in (D-29).
 * Checked again because the definition may be older than the rules, and an id newer than the definition.
 */
export const commandSubject = (definition: Pick<ToolDefinition, "target_subject">, ids: TemplateIds): string => {
  const subject = expandSubjectTemplate(definition.target_subject, ids);
  // Services claim by target: a tool with the project manager's target would be offered to it and only wait there.
  const reachesTool = subject.category === "cmd" && subject.component === "tool" && subject.target !== PMO_TARGET;
  if (subject.projectId !== ids.projectId || !(reachesTool || isPmoSubject(subject))) {
    throw new ToolplaneError("protocol_violation", "target_subject leads out of the project or past its tools", {
      detail: { path: "$.target_subject" },
    });
  }
  return formatSubject(subject);
};

/** The `target_subject` of a tool that the service of a target runs; project and channel are filled in for each call. */
export const toolSubjectTemplate = (target: string, action: string): string =>
  `cg.${PROTOCOL_VERSION}.{project_id}.{channel_id}.cmd.tool.${target}.${action}`;

/** Whether the management API shows a definition and lets it be deleted: built-in names and engine subjects are hidden. */
export const isExternalTool = (definition: Pick<ToolDefinition, "tool_name" | "target_subject">): boolean => {
  const [, , , , category, component] = definition.target_subject.split(".");
  return category === "cmd" && component === "tool" && !isReservedToolName(definition.tool_name);
};
