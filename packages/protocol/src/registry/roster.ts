// The roster: which agents a project has and which worker pool serves each. Its `worker_target` alone routes wakeups, so the
// right to change it is decided here and not at each door (W-18).

import { z } from "zod";
import { parseWith } from "../errors/parse-with.ts";
import { jsonObject } from "../json/json-schemas.ts";
import { copyUpload } from "../tools/upload.ts";
import { agentName, displayName, displayText, REGISTRY_CAPS, subjectToken, tagList } from "./field-shapes.ts";

const ROSTER_STATUSES = ["active", "inactive"] as const;
export type RosterStatus = (typeof ROSTER_STATUSES)[number];

const boxId = z.uuid();

export const rosterAgentSchema = z
  .strictObject({
    project_id: subjectToken,
    agent_id: subjectToken,
    profile_box_id: boxId,
    worker_target: subjectToken,
    tags: tagList,
    display_name: displayText.nullable(),
    owner_agent_id: displayText.nullable(),
    status: z.enum(ROSTER_STATUSES),
    metadata: jsonObject,
  })
  .readonly();

export type RosterAgent = z.infer<typeof rosterAgentSchema>;

/** What the API takes. `profile` is the short form configuration files use for `profile_name`. */
export const agentUploadSchema = z
  .strictObject({
    agent_id: subjectToken,
    profile_box_id: boxId.optional(),
    profile_name: displayName.optional(),
    profile: displayName.optional(),
    worker_target: subjectToken.optional(),
    tags: tagList.optional(),
    display_name: agentName.nullish(),
    owner_agent_id: displayText.nullish(),
    metadata: jsonObject.default({}),
    init_state: z.boolean().default(true),
    channel_id: subjectToken.optional(),
  })
  .refine(
    ({ profile, profile_name }) => profile === undefined || profile_name === undefined || profile === profile_name,
    {
      error: "is another spelling of profile_name and must equal it",
      path: ["profile"],
    },
  )
  .transform(({ profile, profile_name, ...rest }) => ({ ...rest, profile_name: profile_name ?? profile }))
  .refine(({ profile_name, profile_box_id }) => profile_name !== undefined || profile_box_id !== undefined, {
    error: "an agent needs profile_name or profile_box_id",
    path: ["profile_name"],
  })
  .readonly();

export type AgentUpload = z.infer<typeof agentUploadSchema>;

export const parseAgentUpload = (input: unknown): AgentUpload =>
  parseWith(agentUploadSchema, copyUpload(input, "agent", REGISTRY_CAPS), "agent");

/** An upload with its profile looked up: everything a row needs except what only the stored row knows. */
export type RosterEntry = Omit<RosterAgent, "status">;

export interface RosterPlan {
  readonly outcome: "insert" | "update";
  readonly agent: RosterAgent;
}

/**
 * An existing agent keeps its status and, unless the new entry has one, its display name; metadata is merged key by key; the
 * rest is replaced.
 */
export const planRosterUpsert = (existing: RosterAgent | undefined, entry: RosterEntry): RosterPlan => {
  if (existing === undefined) return { outcome: "insert", agent: { ...entry, status: "active" } };
  return {
    outcome: "update",
    agent: {
      ...entry,
      display_name: entry.display_name ?? existing.display_name,
      metadata: { ...existing.metadata, ...entry.metadata },
      status: existing.status,
    },
  };
};

export const planDeactivation = (agent: RosterAgent, reason: string): RosterAgent => ({
  ...agent,
  status: "inactive",
  metadata: { ...agent.metadata, deactivated_reason: reason },
});
