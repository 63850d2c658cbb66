// What a step reads: the turn's two boxes with their cards, the profile, the definitions of the tools it allows.
// Boxes of many turns are read together. Of long cards only what is shown of them stays in memory (long-cards.ts), within the room
// that all steps share (step-room.ts). Profiles and lists of tools are remembered, within a bound: a box and its profile card
// never change; a list of tools is dropped when the registry rings or when it is old (a ring may be lost, I13).

import {
  type Clock,
  type CompiledDefinition,
  createCoalescer,
  type Engine,
  fillBoxes,
  type ListedBoxes,
  type LongCard,
  longIn,
  type TurnBoxes,
  type TurnBoxesAsk,
  type Turns,
} from "@toolplane/engine";
import { CARD_TYPES, type Card } from "@toolplane/protocol";
import type { Profile } from "@toolplane/protocol/registry";
import { LRUCache } from "lru-cache";
import { createLongReading, SHORT_CARD_BYTES, WHOLE_BYTES } from "../transcript/long-cards.ts";
import { createStepRoom, type StepRoom } from "./step-room.ts";

export type StepReaderEngine = Pick<Engine, "profiles" | "definitions" | "tools" | "doorbell"> & {
  readonly turns: Pick<Turns, "readBoxes" | "readLong">;
};

export interface StepReader {
  /** `use` gets the boxes, and keeps nothing of them: their memory is given to other steps when it has ended. */
  withBoxes<T>(ask: TurnBoxesAsk, use: (boxes: TurnBoxes) => T | Promise<T>): Promise<T>;
  /** One card of the turn, whole. */
  card(projectId: string, cardId: string): Promise<Card | undefined>;
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
  /** Shared by the workers of a process, if there are several. */
  readonly room?: StepRoom | undefined;
}

/** At most a megabyte comes with each. */
const STEPS_PER_READ = 32;
const MAX_PROFILES = 500;
const MAX_PROJECTS = 200;
/** When a ring was lost, a tool registered elsewhere is seen this much later. */
const TOOL_LIST_MS = 15_000;
/** As many as one answer of the registry has. */
const PAGE = 500;

/** Newest first, behind the turn's instruction: what is read first is kept whole. */
const inOrder = (boxes: ListedBoxes): readonly LongCard[] => {
  const instruction = boxes.context.findLast(({ type }) => type === CARD_TYPES.taskInstruction);
  const long = longIn(boxes);
  return long.filter((card) => card === instruction).concat(long.filter((card) => card !== instruction));
};

/** What a step keeps of these cards at most. */
const heldBytes = (long: readonly LongCard[]): number => {
  const all = long.reduce((sum, { bytes }) => sum + bytes, 0);
  return Math.min(all, WHOLE_BYTES + long.reduce((sum, { bytes }) => sum + Math.min(bytes, SHORT_CARD_BYTES), 0));
};

export const createStepReader = ({ engine, clock, ...options }: StepReaderOptions): StepReader => {
  const profiles = new LRUCache<string, Profile>({ max: MAX_PROFILES });
  const toolLists = new LRUCache<string, { readonly names: readonly string[]; readonly readAt: number }>({
    max: MAX_PROJECTS,
  });
  const room = options.room ?? createStepRoom();
  const stopListening = engine.doorbell.listen("registry", () => {
    toolLists.clear();
  });

  const { submit: listed } = createCoalescer<TurnBoxesAsk, ListedBoxes>({
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
    async withBoxes(ask, use) {
      const boxes = await listed(ask);
      const long = inOrder(boxes);
      if (long.length === 0) return use(fillBoxes(boxes, new Map()));
      using _room = await room.enter(ask.projectId, heldBytes(long));
      const { projectId } = ask;
      return await use(fillBoxes(boxes, await engine.turns.readLong(projectId, long, createLongReading(projectId))));
    },
    async card(projectId, cardId) {
      const wanted = [{ cardId, type: "", bytes: 0 }];
      return (await engine.turns.readLong(projectId, wanted, { keep: (card) => card })).get(cardId);
    },
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
