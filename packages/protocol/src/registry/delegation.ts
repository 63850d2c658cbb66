// Whether an agent may delegate to a profile and pass on boxes. The answer is "no" unless every fact for a "yes" is there: a
// fact that could not be looked up never skips the check (W-18).

import type { ErrorCode } from "../errors/error-table.ts";
import { type DelegationPolicy, type Profile, profileKey } from "./profile.ts";
import type { RosterAgent } from "./roster.ts";

export type GuardDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly code: ErrorCode; readonly message: string };

const ALLOWED: GuardDecision = { allowed: true };
const deny = (code: ErrorCode, message: string): GuardDecision => ({ allowed: false, code, message });

/** `target_profiles`: null means all, a list those named. `target_tags`, when not empty, also requires one tag in common. */
export const policyAllows = (policy: DelegationPolicy, target: Pick<Profile, "name" | "tags">): boolean => {
  const { target_profiles: profiles, target_tags: tags } = policy;
  const key = profileKey(target.name);
  if (profiles !== null && !profiles.some((name) => profileKey(name) === key)) return false;
  return tags.length === 0 || tags.some((tag) => target.tags.includes(tag));
};

export interface DelegationInput {
  /** Undefined for each fact that could not be found. */
  readonly caller: Pick<RosterAgent, "agent_id" | "status"> | undefined;
  readonly callerProfile: Pick<Profile, "delegation_policy"> | undefined;
  readonly target: Pick<Profile, "name" | "tags"> | undefined;
}

export const planDelegation = ({ caller, callerProfile, target }: DelegationInput): GuardDecision => {
  if (caller === undefined)
    return deny("not_found", "the caller is not an agent of this project; call in the name of one (agent_id)");
  if (caller.status !== "active") return deny("auth_failed", `agent ${caller.agent_id} is not active`);
  if (callerProfile === undefined) return deny("bad_request", "the caller has no profile");
  const policy = callerProfile.delegation_policy;
  if (policy === undefined) return deny("auth_failed", "the caller's profile has no delegation_policy");
  if (target === undefined) return deny("not_found", "the target profile does not exist");
  if (!policyAllows(policy, target)) {
    return deny("auth_failed", `the delegation_policy does not allow profile ${target.name}`);
  }
  return ALLOWED;
};

export interface BoxInheritanceInput {
  readonly requested: readonly string[];
  /** The caller's own boxes: profile, context, output, memory, last output; plus any it was given for this call. */
  readonly inheritable: readonly string[];
  /** Those of the requested boxes that exist in the project. */
  readonly existing: readonly string[];
}

/** An empty set of inheritable boxes allows nothing; it does not switch the check off. */
export const planBoxInheritance = ({ requested, inheritable, existing }: BoxInheritanceInput): GuardDecision => {
  for (const boxId of requested) {
    if (!inheritable.includes(boxId)) return deny("bad_request", `unauthorized box_id ${boxId}`);
    if (!existing.includes(boxId)) return deny("not_found", `box ${boxId} does not exist`);
  }
  return ALLOWED;
};
