// The cards a worker writes around a model call: the profile, the prompt it was given, the tools it was offered.

import type { JsonObject } from "../json/json-value.ts";
import type { Card } from "./card.ts";
import { type CardOrigin, createCard } from "./card-origin.ts";
import { CARD_AUTHORS, CARD_TYPES } from "./card-types.ts";
import { jsonContent, textContent } from "./content.ts";
import { copyLineage, type Lineage } from "./lineage.ts";

/** These cards have fixed authors; a caller gives only id, project and time. */
export type SystemCardOrigin = Omit<CardOrigin, "authorId">;

const writtenBy = (origin: SystemCardOrigin, authorId: string): CardOrigin => ({ ...origin, authorId });

export interface ProfileCardInput extends SystemCardOrigin {
  readonly profile: JsonObject;
  readonly name: string;
  readonly workerTarget: string;
  readonly tags: readonly string[];
}

export const createProfileCard = (input: ProfileCardInput): Card =>
  createCard(CARD_TYPES.sysProfile, writtenBy(input, CARD_AUTHORS.api), {
    content: jsonContent(input.profile),
    metadata: { name: input.name, worker_target: input.workerTarget, tags: input.tags },
  });

export const createRenderedPromptCard = (
  input: SystemCardOrigin & { readonly text: string; readonly profileId?: string | undefined },
): Card =>
  createCard(CARD_TYPES.sysRenderedPrompt, writtenBy(input, CARD_AUTHORS.assembler), {
    content: textContent(input.text),
    metadata: { profile_id: input.profileId },
  });

export const createToolsCard = (input: SystemCardOrigin & { readonly tools: readonly JsonObject[] }): Card =>
  createCard(CARD_TYPES.sysTools, writtenBy(input, CARD_AUTHORS.assembler), {
    content: Object.freeze({ __type__: "ToolContent", tools: input.tools }),
  });

export const createMustEndWithCard = (
  input: CardOrigin & { readonly text: string; readonly lineage?: Lineage | undefined },
): Card =>
  createCard(CARD_TYPES.sysMustEndWithRequired, input, {
    content: textContent(input.text),
    metadata: copyLineage(input.lineage as JsonObject | undefined),
  });
