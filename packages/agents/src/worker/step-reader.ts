// What a step reads: the turn's two boxes with their cards, the profile, the definitions of the tools it allows.
// Boxes of many turns are read together. Profiles and lists of tools are remembered, within a bound: a box and its profile card
// never change; a list of tools is dropped when the registry rings or when it is old (a ring may be lost, I13).

import {
  type Clock,
  type CompiledDefinition,
  createCoalescer,
  type Engine,
  type TurnBoxes,
  type TurnBoxesAsk,
  type Turns,
} from "@toolplane/engine";
import type { Profile } from "@toolplane/protocol/registry";
import { LRUCache } from "lru-cache";

export type StepReaderEngine = Pick<Engine, "profiles" | "definitions" | "tools" | "doorbell"> & {
  readonly turns: Pick<Turns, "readBoxes">;
};

export interface StepReader {
  boxes(ask: TurnBoxesAsk): Promise<TurnBoxes>;
  /** Undefined when the box holds no profile. */
  profile(projectId: string, profileBoxId: string): Promise<Profile | undefined>;
  /** The profile as this process knows it already. */
  knownProfile(projectId: string, profileBoxId: string): Profile | undefined;
  /** What the profile allows and the project has, in the profile's order. */
  tools(projectId: string, profile: Profile): Promise<readonly CompiledDefinition[]>;
  close(): void;
}

export interface StepReaderOptions {
  readonly engine: StepReaderEngine;
  readonly clock: Clock;
}

const STEPS_PER_READ = 50;
const MAX_PROFILES = 500;
const MAX_PROJECTS = 200;
/** When a ring was lost, a tool registered elsewhere is seen this much later. */
const TOOL_LIST_MS = 15_000;
/** As many as one answer of the registry has. */
const PAGE = 500;

export const createStepReader = ({ engine, clock }: StepReaderOptions): StepReader => {
  const profiles = new LRUCache<string, Profile>({ max: MAX_PROFILES });
  const toolLists = new LRUCache<string, { readonly names: readonly string[]; readonly readAt: number }>({
    max: MAX_PROJECTS,
  });
  const stopListening = engine.doorbell.listen("registry", () => {
    toolLists.clear();
  });

  const { submit: boxes } = createCoalescer<TurnBoxesAsk, TurnBoxes>({
    maxItems: STEPS_PER_READ,
    flush: (asks) => engine.turns.readBoxes(asks),
  });

  const listAll = async (projectId: string): Promise<readonly string[]> => {
    const known = toolLists.get(projectId);
    const age = clock.now() - (known?.readAt ?? 0);
    // Ages never go below zero, even when the system clock is set back.
    if (known !== undefined && age >= 0 && age < TOOL_LIST_MS) return known.names;
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await engine.tools.listTools(projectId, { includeInternal: true, limit: PAGE, cursor });
      names.push(...page.items.map(({ toolName }) => toolName));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    toolLists.set(projectId, { names, readAt: clock.now() });
    return names;
  };

  return {
    boxes,
    knownProfile: (projectId, profileBoxId) => profiles.get(`${projectId}/${profileBoxId}`),
    async profile(projectId, profileBoxId) {
      const key = `${projectId}/${profileBoxId}`;
      const known = profiles.get(key);
      if (known !== undefined) return known;
      const profile = await engine.profiles.loadProfile(projectId, profileBoxId);
      if (profile !== undefined) profiles.set(key, profile);
      return profile;
    },
    async tools(projectId, profile) {
      const names = profile.allowed_tools ?? (await listAll(projectId));
      const asks = [...new Set(names)].map((toolName) => ({ projectId, toolName }));
      if (asks.length === 0) return [];
      return (await engine.definitions.resolve(asks)).filter((definition) => definition !== undefined);
    },
    close: stopListening,
  };
};
