// Values of placeholders about other agents: to whom this agent may delegate, by its delegation policy. Read only for templates
// that ask for it, and remembered for some seconds.

import type { Clock, Engine } from "@toolplane/engine";
import { type Profile, policyAllows } from "@toolplane/protocol/registry";
import { type PromptValues, promptName } from "../transcript/system-prompt.ts";

export interface PromptSource {
  valuesFor(projectId: string, profile: Profile): Promise<PromptValues>;
}

export interface PromptSourceOptions {
  readonly engine: Pick<Engine, "profiles" | "agents">;
  readonly clock: Pick<Clock, "now">;
}

/** More names than a model can tell apart. */
const MAX_LINES = 50;
const MAX_REMEMBERED = 200;
const FRESH_MS = 10_000;
const NOBODY = "(nobody)";

const PLACEHOLDER = "{downstream_";

const lines = (items: readonly string[]): string =>
  items.length === 0
    ? NOBODY
    : items
        .slice(0, MAX_LINES)
        .map((item) => `- ${item}`)
        .join("\n");

export const createPromptSource = ({ engine, clock }: PromptSourceOptions): PromptSource => {
  const remembered = new Map<string, { readonly values: PromptValues; readonly readAt: number }>();

  const read = async (projectId: string, { delegation_policy: policy }: Profile): Promise<PromptValues> => {
    const { items: profiles } = await engine.profiles.listProfiles(projectId, { limit: 500 });
    const allowed =
      policy === undefined ? [] : profiles.filter(({ name, tags }) => policyAllows(policy, { name, tags }));
    const described = await Promise.all(
      allowed.slice(0, MAX_LINES).map(async ({ name, profileBoxId }) => {
        const description = (await engine.profiles.loadProfile(projectId, profileBoxId))?.description;
        return description === undefined || description === "" ? name : `${name}: ${description}`;
      }),
    );
    const names = new Map(allowed.map(({ profileBoxId, name }) => [profileBoxId, name]));
    const { items: agents } = await engine.agents.listAgents(projectId, { status: "active", all: false, limit: 500 });
    const roster = agents
      .filter(({ profileBoxId }) => names.has(profileBoxId))
      .map(
        ({ agentId, displayName, profileBoxId }) =>
          `${agentId}${displayName === null ? "" : ` (${promptName(displayName)})`}: ${names.get(profileBoxId) ?? ""}`,
      );
    return {
      downstream_profiles_desc: lines(described),
      downstream_roster: lines(roster),
      downstream_desc: `Profiles:\n${lines(described)}\nAgents:\n${lines(roster)}`,
    };
  };

  return {
    async valuesFor(projectId, profile) {
      if (!profile.system_prompt_template.includes(PLACEHOLDER)) return {};
      const key = `${projectId}/${profile.name}`;
      const known = remembered.get(key);
      const age = clock.now() - (known?.readAt ?? 0);
      // Ages never go below zero, even when the system clock is set back.
      if (known !== undefined && age >= 0 && age < FRESH_MS) return known.values;
      const values = await read(projectId, profile);
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(key, { values, readAt: clock.now() });
      return values;
    },
  };
};
