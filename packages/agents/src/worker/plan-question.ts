// What a step shows to its brain. Pure: cards, profile and definitions in, the request out; the same in any process.

import { BOX_TAIL, type CompiledDefinition, type TurnBoxes, type TurnFinish, type Work } from "@toolplane/engine";
import { type Card, isOfferedTo, isTrustedActor, ToolplaneError } from "@toolplane/protocol";
import {
  type ModelMessage,
  type ModelToolSpec,
  modelToolSpec,
  type ResultField,
  submitResultSpec,
} from "@toolplane/protocol/agents";
import { type Profile, SUBMIT_RESULT } from "@toolplane/protocol/registry";
import { resultChars } from "../transcript/long-cards.ts";
import { readCardSpec } from "../transcript/read-card.ts";
import { READ_CARD } from "../transcript/read-card-name.ts";
import { planStepBudget, requiredFields } from "../transcript/step-notes.ts";
import { type PromptValues, promptName, renderSystemPrompt } from "../transcript/system-prompt.ts";
import { buildTranscript, TRANSCRIPT_LIMITS } from "../transcript/transcript.ts";
import { planTrust, UNKNOWN } from "../transcript/trust.ts";
import { type Budget, planStepLimit } from "./budget.ts";
import type { TurnLimits } from "./limits.ts";

export interface QuestionInput {
  readonly work: Work;
  readonly maxSteps: number;
  readonly profile: Profile;
  readonly boxes: TurnBoxes;
  readonly definitions: readonly CompiledDefinition[];
  readonly promptValues?: PromptValues | undefined;
  readonly bundledTargets?: ReadonlySet<string> | undefined;
}

export interface QuestionPlan {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelToolSpec[];
  readonly offered: ReadonlySet<string>;
  /** Allowed by the profile, but only for models with other tags. */
  readonly withheld: ReadonlySet<string>;
  /** Fewer tools than the profile has: the last step. */
  readonly restricted: boolean;
  readonly requiredFields: readonly ResultField[];
  /** What read_card may read. Ids only: a plan lives as long as its brain thinks. */
  readonly visible: ReadonlySet<string>;
  /** What the model writes in this step may derive from cards of external trust. */
  readonly external: boolean;
}

/** Tools of the worker itself: never registered, never dispatched. */
export const BUILT_IN_TOOLS: ReadonlySet<string> = new Set([SUBMIT_RESULT, READ_CARD]);

const failed = (errorCode: string, error: string): TurnFinish => ({ status: "failed", errorCode, error });

/** Why the turn ends before its next step, if it does. */
export const planTurnLimit = (
  work: Pick<Work, "recursionDepth" | "stepCount">,
  limits: Pick<TurnLimits, "maxDepth">,
  budget: Budget,
): TurnFinish | undefined => {
  if (work.recursionDepth >= limits.maxDepth) {
    const error = `recursion_depth_exceeded (depth=${work.recursionDepth}, max_depth=${limits.maxDepth})`;
    return failed("recursion_depth_exceeded", error);
  }
  return planStepLimit(work, budget);
};

/** For a turn whose profile is gone: the turn ends, with a deliverable like any other. */
export const profileNotFound = (work: Pick<Work, "profileBoxId">): TurnFinish =>
  failed(
    "profile_not_found",
    `there is no profile in box ${work.profileBoxId}; give the agent a profile and start again`,
  );

const isLong = (card: Card): boolean => resultChars(card) > TRANSCRIPT_LIMITS.resultChars;

/** The tags of a model are its agent's and those that its settings add. */
const modelTags = ({ tags, llm_config: config }: Profile): readonly string[] => {
  const more = Array.isArray(config.tags) ? config.tags.filter((tag) => typeof tag === "string") : [];
  return [...tags, ...more];
};

const specsOf = (
  profile: Profile,
  definitions: readonly CompiledDefinition[],
  fields: readonly ResultField[],
  canReadMore: boolean,
): ModelToolSpec[] => {
  const specs = definitions.map(({ definition }) => modelToolSpec(definition));
  if (canReadMore) specs.push(readCardSpec());
  if (profile.allowed_internal_tools.includes(SUBMIT_RESULT)) specs.push(submitResultSpec(fields));
  return specs;
};

const trustIn = ({ definitions, bundledTargets }: QuestionInput) => {
  const known = new Map(
    definitions.map(({ toolName, definition, version }) => [
      toolName,
      planTrust({ definition, version, bundledTargets }),
    ]),
  );
  return (toolName: string) => known.get(toolName) ?? UNKNOWN;
};

/** A turn of the API or of the plane itself has one of their names as its parent. */
const isGivenByAgent = ({ parentAgentId }: Work): boolean =>
  parentAgentId !== undefined && !isTrustedActor(parentAgentId);

/**
 * Older cards of a box were not read. The agent's last thought in it says whether they had anything from outside; a thought of an
 * earlier version does not say it, and counts as if they had.
 */
const mayHideExternal = ({ work, boxes: { context, output } }: QuestionInput): boolean => {
  const saysNothing = (cards: readonly Card[], unthought: boolean): boolean => {
    if (cards.length < BOX_TAIL) return false;
    const last = cards.findLast(({ type, author_id: author }) => type === "agent.thought" && author === work.agentId);
    return last === undefined ? unthought : last.metadata.external !== false;
  };
  // A long context without a thought was never read by this agent, and its older cards are not shown now either.
  return saysNothing(output, true) || saysNothing(context, false);
};

export const planQuestion = (input: QuestionInput): QuestionPlan => {
  const { work, maxSteps, profile, boxes } = input;
  const fields = requiredFields(boxes.context);
  const canReadMore = [...boxes.output, ...boxes.context].some(isLong);
  const tags = modelTags(profile);
  const shown = input.definitions.filter(({ definition }) => isOfferedTo(definition.options, tags));
  const all = specsOf(profile, shown, fields, canReadMore);
  const budget = planStepBudget(all, maxSteps, work.stepCount);
  const offered = new Set(budget.tools.map(({ function: { name } }) => name));
  const transcript = buildTranscript({
    agentTurnId: work.agentTurnId,
    agentId: work.agentId,
    outputCards: boxes.output,
    contextCards: boxes.context,
    trustOf: trustIn(input),
    canReadMore: offered.has(READ_CARD),
    notes: budget.alert === undefined ? [] : [budget.alert],
  });
  return {
    system: renderSystemPrompt({
      template: profile.system_prompt_template,
      values: { display_name: promptName(work.displayName ?? work.agentId), ...input.promptValues },
      resultFields: fields,
    }),
    messages: transcript.messages,
    tools: budget.tools,
    offered,
    withheld: new Set(input.definitions.filter((one) => !shown.includes(one)).map(({ toolName }) => toolName)),
    restricted: budget.tools.length < all.length,
    requiredFields: fields,
    visible: new Set(transcript.visible.keys()),
    // Another agent's words were written by a model that may have read foreign text, so an instruction of one counts too.
    external: transcript.hasExternal || mayHideExternal(input) || isGivenByAgent(work),
  };
};

/** The error that ends the turn after a brain failed: its code and its own words, fit to be stored. */
export const planFailure = (error: unknown): TurnFinish =>
  error instanceof ToolplaneError
    ? failed(error.code, error.message)
    : failed("internal_error", "the step failed inside the worker; its log names the error and where it was thrown");
