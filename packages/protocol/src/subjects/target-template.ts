// `target_subject` of a tool definition: a subject with the placeholders {project_id}, {channel_id}, {agent_id}.
// Ids are checked to be one token before they are put in, and the outcome is parsed as a subject: neither an id nor a
// template can lead a command out of its project, to another version or onto a wildcard (W-19, W-31).

import { violation } from "../errors/toolplane-error.ts";
import { MAX_SUBJECT_LENGTH, PAYLOAD_STYLE_VERSION, PROTOCOL_VERSION, parseSubject, type Subject } from "./subject.ts";
import { parseToken } from "./token.ts";

export interface TemplateIds {
  readonly projectId: string;
  readonly channelId: string;
  readonly agentId: string;
}

const PLACEHOLDERS = {
  "{project_id}": "projectId",
  "{channel_id}": "channelId",
  "{agent_id}": "agentId",
} as const satisfies Record<string, keyof TemplateIds>;

/** The text after expansion. Only the placeholders that occur need a usable id. */
const fill = (template: string, ids: TemplateIds): string => {
  // Before filling: thousands of placeholders times a long id would be gigabytes.
  if (template.length > MAX_SUBJECT_LENGTH) throw violation(`subject is longer than ${MAX_SUBJECT_LENGTH} characters`);
  let text = template;
  for (const [placeholder, key] of Object.entries(PLACEHOLDERS)) {
    if (text.includes(placeholder)) text = text.replaceAll(placeholder, parseToken(ids[key], placeholder));
  }
  return text;
};

/** Where a call of this caller goes. Anything left unexpanded fails the parse. */
export const expandSubjectTemplate = (template: string, ids: TemplateIds): Subject => parseSubject(fill(template, ids));

export interface ToolTarget {
  readonly template: string;
  /** The tool service's name, or null when it depends on who calls. */
  readonly target: string | null;
  /** Its service speaks the older version: it never leases, and only the NATS boundary knows how to talk to it. */
  readonly isPayloadStyle: boolean;
}

/** Stand-ins for the ids that are known only at dispatch; no real id has their form. */
const PROBE: Omit<TemplateIds, "projectId"> = { channelId: "_probe_channel_", agentId: "_probe_agent_" };

/** Checks a definition's `target_subject` when it is registered; `projectId` is the project it is registered in. */
export const parseToolTarget = (template: unknown, projectId: string, version = PROTOCOL_VERSION): ToolTarget => {
  if (typeof template !== "string" || template === "") throw violation("target_subject is not a non-empty string");
  const subject = expandSubjectTemplate(template, { ...PROBE, projectId });
  const isPayloadStyle = subject.version === PAYLOAD_STYLE_VERSION;
  if (subject.version !== version && !isPayloadStyle) {
    throw violation(`target_subject is of version ${version}, or ${PAYLOAD_STYLE_VERSION} for a payload-style service`);
  }
  if (subject.projectId !== projectId) throw violation("target_subject names another project");
  if (subject.category !== "cmd" || subject.component !== "tool") {
    throw violation("target_subject is not a cmd.tool subject");
  }
  const dependsOnCaller = subject.target.includes(PROBE.agentId) || subject.target.includes(PROBE.channelId);
  return { template, target: dependsOnCaller ? null : subject.target, isPayloadStyle };
};
