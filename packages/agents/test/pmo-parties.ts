// A roster for the project manager's plans: a boss who may delegate, a worker, and what a test changes about them.

import type { Parties, Party } from "@toolplane/engine";
import { type Profile, parseProfile, profileKey } from "@toolplane/protocol/registry";

export const PROJECT = "demo";
export const BOSS = "boss";
export const BOSS_BOX = "11111111-1111-7111-8111-111111111111";
export const WORKER_BOX = "22222222-2222-7222-8222-222222222222";

export const profileOf = (name: string, more: Readonly<Record<string, unknown>> = {}): Profile =>
  parseProfile({ name, worker_target: `pool_${name}`, tags: [`tag_${name}`], ...more });

export const BOSS_PROFILE = profileOf("Boss", { delegation_policy: { target_profiles: ["Worker"] } });
export const WORKER_PROFILE = profileOf("Worker");

export interface PartyChange {
  readonly agent?: Partial<Party["agent"]>;
  readonly profile?: Profile | undefined;
  readonly boxes?: Partial<Party["boxes"]>;
}

export const partyOf = (agentId: string, profile: Profile, boxId: string, change: PartyChange = {}): Party => ({
  agent: {
    project_id: PROJECT,
    agent_id: agentId,
    profile_box_id: boxId,
    worker_target: profile.worker_target,
    tags: [...profile.tags],
    display_name: null,
    owner_agent_id: null,
    status: "active",
    metadata: {},
    ...change.agent,
  },
  profile: "profile" in change ? change.profile : profile,
  boxes: { profile: boxId, context: null, output: null, lastOutput: null, ...change.boxes },
});

export interface PartiesChange {
  readonly boss?: PartyChange | null;
  readonly agents?: readonly Party[];
  readonly boxes?: readonly string[];
  readonly profileBoxes?: readonly (readonly [string, Profile])[];
}

/** The boss owns the boxes `ctx` and `out`; both exist, and so does `other`. */
export const partiesOf = (change: PartiesChange = {}): Parties => {
  const boxes = { context: "ctx", output: "out" };
  const boss = partyOf(BOSS, BOSS_PROFILE, BOSS_BOX, { boxes, ...change.boss });
  const agents = [...(change.boss === null ? [] : [boss]), ...(change.agents ?? [])];
  return {
    agents: new Map(agents.map((party) => [party.agent.agent_id, party])),
    profiles: new Map([
      [profileKey("Worker"), { profileBoxId: WORKER_BOX, profile: WORKER_PROFILE }],
      [profileKey("Boss"), { profileBoxId: BOSS_BOX, profile: BOSS_PROFILE }],
    ]),
    profileBoxes: new Map([[WORKER_BOX, WORKER_PROFILE], [BOSS_BOX, BOSS_PROFILE], ...(change.profileBoxes ?? [])]),
    boxes: new Set(change.boxes ?? ["ctx", "out", "other"]),
  };
};
