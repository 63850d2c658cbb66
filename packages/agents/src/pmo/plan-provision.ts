// Whether an agent may be provisioned, and as what. Every refusal has a code of its own. A fact that could not be found never
// skips a check (W-18). Pure.
//   Existing agents keep profile, owner, worker target and tags: another agent must not change who they are.

import type { AgentWrite, Parties, Party } from "@toolplane/engine";
import { isFilled, type JsonObject, type JsonValue } from "@toolplane/protocol";
import {
  malformedProvision,
  type Profile,
  type ProvisionAction,
  parseAgentUpload,
  profileKey,
} from "@toolplane/protocol/registry";
import { checkDelegation } from "./plan-target.ts";

export const PROVISION_REFUSALS = [
  "invalid_action",
  "missing_agent_id",
  "missing_derived_from",
  "invalid_tags",
  "invalid_metadata",
  "profile_not_found",
  "profile_box_missing",
  "profile_mismatch",
  "missing_profile_name",
  "missing_derived_profile_name",
  "derived_agent_conflict",
  "worker_target_missing",
  "existing_agent_profile_mutation_forbidden",
  "existing_agent_owner_mutation_forbidden",
  "existing_agent_worker_target_mutation_forbidden",
  "existing_agent_tags_mutation_forbidden",
] as const;
export type ProvisionRefusal = (typeof PROVISION_REFUSALS)[number];

export interface ProvisionAsk {
  readonly action: ProvisionAction;
  readonly agentId: string;
  readonly profileName?: string | undefined;
  readonly profileBoxId?: string | undefined;
  readonly derivedFrom?: string | undefined;
  readonly displayName?: string | undefined;
  readonly ownerAgentId?: string | undefined;
  readonly workerTarget?: string | undefined;
  readonly activeChannelId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: JsonObject | undefined;
}

export type Refused = { readonly refused: ProvisionRefusal };
const refused = (code: ProvisionRefusal): Refused => ({ refused: code });

export const isRefused = (value: object): value is Refused => "refused" in value;

const textOf = (value: JsonValue | undefined): string | undefined => (isFilled(value) ? value.trim() : undefined);

/** Ids, names and tags must have the form that the roster asks for; `bad_request` names the wrong one. */
const checkForm = (ask: ProvisionAsk): void => {
  parseAgentUpload({
    agent_id: ask.agentId,
    profile_name: ask.profileName ?? ask.agentId,
    ...(ask.workerTarget === undefined ? {} : { worker_target: ask.workerTarget }),
    ...(ask.tags === undefined ? {} : { tags: ask.tags }),
    ...(ask.displayName === undefined ? {} : { display_name: ask.displayName }),
    ...(ask.ownerAgentId === undefined ? {} : { owner_agent_id: ask.ownerAgentId }),
    ...(ask.activeChannelId === undefined ? {} : { channel_id: ask.activeChannelId }),
    metadata: ask.metadata ?? {},
  });
};

export const parseProvision = (args: JsonObject): ProvisionAsk | Refused => {
  const malformed = malformedProvision(args);
  if (malformed !== undefined) return refused(malformed);
  const { tags, metadata } = args;
  const ask: ProvisionAsk = {
    action: args.action as ProvisionAction,
    agentId: textOf(args.agent_id) ?? "",
    profileName: textOf(args.profile_name),
    profileBoxId: textOf(args.profile_box_id),
    derivedFrom: textOf(args.derived_from),
    displayName: textOf(args.display_name),
    ownerAgentId: textOf(args.owner_agent_id),
    workerTarget: textOf(args.worker_target),
    activeChannelId: textOf(args.active_channel_id),
    tags: (tags ?? undefined) as readonly string[] | undefined,
    metadata: (metadata ?? undefined) as JsonObject | undefined,
  };
  checkForm(ask);
  return ask;
};

interface ResolvedProfile {
  readonly profileBoxId: string;
  readonly profile: Profile;
}

const sameName = (a: string, b: string): boolean => profileKey(a) === profileKey(b);

/** By name or by box; both only when they mean the same profile. */
const resolveNamed = (ask: ProvisionAsk, parties: Parties): ResolvedProfile | Refused | undefined => {
  const { profileName, profileBoxId } = ask;
  const named = profileName === undefined ? undefined : parties.profiles.get(profileKey(profileName));
  if (profileName !== undefined && named === undefined) return refused("profile_not_found");
  if (profileBoxId === undefined) return named;
  const profile = parties.profileBoxes.get(profileBoxId);
  if (profile === undefined) return refused("profile_box_missing");
  if (profileName !== undefined && !sameName(profile.name, profileName)) return refused("profile_mismatch");
  return { profileBoxId, profile };
};

const ownProfile = ({ agent, profile }: Party): ResolvedProfile | undefined =>
  profile && { profileBoxId: agent.profile_box_id, profile };

const resolveProfile = (
  ask: ProvisionAsk,
  parties: Parties,
  existing: Party | undefined,
): ResolvedProfile | Refused | undefined => {
  const named = resolveNamed(ask, parties);
  if (named !== undefined && isRefused(named)) return named;
  if (ask.action !== "derive") return named ?? (existing && ownProfile(existing));
  const source = parties.agents.get(ask.derivedFrom ?? "");
  const derived = source && ownProfile(source);
  if (derived === undefined) return refused("missing_derived_profile_name");
  if (named !== undefined && !sameName(named.profile.name, derived.profile.name)) return refused("profile_mismatch");
  return named ?? derived;
};

/** Metadata that only the plane writes; a request cannot set it. */
const OWN_METADATA: ReadonlySet<string> = new Set([
  "profile_name",
  "spawned_by",
  "derived_from",
  "batch_id",
  "task_label",
  "deactivated_reason",
]);

const givenMetadata = ({ metadata }: ProvisionAsk): JsonObject =>
  Object.fromEntries(Object.entries(metadata ?? {}).filter(([key]) => !OWN_METADATA.has(key)));

const sameTags = (a: readonly string[], b: readonly string[]): boolean =>
  new Set([...a, ...b]).size === new Set(a).size && new Set(a).size === new Set(b).size;

/** What an agent that provisions agents may not change of an existing one. */
type GuardedField = "profile" | "owner" | "worker_target" | "tags";

const mutationOf = (ask: ProvisionAsk, { agent, profile }: Party): GuardedField | undefined => {
  const { profileName, profileBoxId, ownerAgentId, workerTarget, tags } = ask;
  const otherName = profileName !== undefined && (profile === undefined || !sameName(profile.name, profileName));
  if (otherName || (profileBoxId !== undefined && profileBoxId !== agent.profile_box_id)) return "profile";
  if (ownerAgentId !== undefined && ownerAgentId !== agent.owner_agent_id) return "owner";
  if (workerTarget !== undefined && workerTarget !== agent.worker_target) return "worker_target";
  return tags !== undefined && !sameTags(tags, agent.tags) ? "tags" : undefined;
};

export interface ProvisionPlan {
  readonly agent: AgentWrite["agent"];
  readonly action: AgentWrite["action"];
  /** False when there is nothing to write. */
  readonly changes: boolean;
}

const planExisting = (ask: ProvisionAsk, existing: Party): ProvisionPlan | Refused => {
  const { agent } = existing;
  if (ask.action === "derive" && agent.metadata.derived_from !== ask.derivedFrom)
    return refused("derived_agent_conflict");
  const mutation = mutationOf(ask, existing);
  if (mutation !== undefined) return refused(`existing_agent_${mutation}_mutation_forbidden`);
  const { status: _, ...kept } = agent;
  const metadata = givenMetadata(ask);
  const changed = Object.keys(metadata).filter(
    (key) => JSON.stringify(metadata[key]) !== JSON.stringify(agent.metadata[key]),
  );
  const renamed = ask.displayName !== undefined && ask.displayName !== agent.display_name;
  return {
    agent: {
      ...kept,
      display_name: ask.displayName ?? agent.display_name,
      metadata: { ...agent.metadata, ...metadata },
    },
    action: "update",
    changes: renamed || changed.length > 0,
  };
};

export interface ProvisionInput {
  readonly ask: ProvisionAsk;
  readonly projectId: string;
  readonly callerId: string;
  readonly parties: Parties;
}

const planNew = (input: ProvisionInput, { profile, profileBoxId }: ResolvedProfile): ProvisionPlan | Refused => {
  const { ask, projectId, callerId } = input;
  const workerTarget = ask.workerTarget ?? profile.worker_target;
  if (workerTarget === "") return refused("worker_target_missing");
  return {
    agent: {
      project_id: projectId,
      agent_id: ask.agentId,
      profile_box_id: profileBoxId,
      worker_target: workerTarget,
      tags: [...(ask.tags ?? profile.tags)],
      display_name: ask.displayName ?? null,
      owner_agent_id: ask.ownerAgentId ?? callerId,
      metadata: {
        ...givenMetadata(ask),
        profile_name: profile.name,
        spawned_by: callerId,
        ...(ask.action === "derive" ? { derived_from: ask.derivedFrom ?? "" } : {}),
      },
    },
    action: "provision",
    changes: true,
  };
};

/** Throws the refusal of the guard. */
export const planProvision = (input: ProvisionInput): ProvisionPlan | Refused => {
  const { ask, callerId, parties } = input;
  const existing = parties.agents.get(ask.agentId);
  if (ask.action === "derive" && ask.derivedFrom === ask.agentId) return refused("derived_agent_conflict");
  const resolved = resolveProfile(ask, parties, existing);
  if (resolved !== undefined && isRefused(resolved)) return resolved;
  if (resolved === undefined && existing === undefined) return refused("missing_profile_name");
  const caller = parties.agents.get(callerId);
  checkDelegation(caller, resolved?.profile);
  if (existing === undefined)
    return resolved === undefined ? refused("missing_profile_name") : planNew(input, resolved);
  // The guard checks the agent's present identity, whatever profile the request names.
  checkDelegation(caller, existing.profile);
  return planExisting(ask, existing);
};
