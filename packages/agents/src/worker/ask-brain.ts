// Asks the profile's brain with what the step shows, and streams its words while it speaks.

import type { Clock, Engine, Log, Work } from "@toolplane/engine";
import { type JsonObject, ToolplaneError } from "@toolplane/protocol";
import type { Profile } from "@toolplane/protocol/registry";
import type { BrainAnswer, BrainSource } from "../brains/brain.ts";
import { createChunkStream, SILENT_CHUNKS, shownSettings } from "./chunks.ts";
import type { QuestionPlan } from "./plan-question.ts";
import { readAnswer } from "./read-answer.ts";
import { think } from "./think.ts";
import type { StepTiming } from "./timing.ts";

export interface AskOptions {
  readonly brains: BrainSource;
  readonly bus: Pick<Engine["bus"], "publishStream">;
  readonly clock: Clock;
  readonly log: Log;
  readonly thinkMs: number;
  /** Timing fields go into the chunks too. */
  readonly showTiming: boolean;
}

export interface Question {
  readonly work: Work;
  readonly signal: AbortSignal;
  readonly stepId: string;
  readonly profile: Profile;
  readonly plan: QuestionPlan;
  readonly timing: StepTiming;
}

export const askBrain = async (
  { brains, bus, clock, log, thinkMs, showTiming }: AskOptions,
  { work, signal, stepId, profile, plan, timing }: Question,
): Promise<BrainAnswer> => {
  const chunks = profile.llm_config.stream ? createChunkStream({ bus, log, work, stepId }) : SILENT_CHUNKS;
  const more = (): JsonObject => (showTiming ? { timing: timing.fields() } : {});
  timing.asked();
  chunks.start({ ...shownSettings(profile), ...more() });
  try {
    const brain = await brains(profile);
    const request = {
      projectId: work.projectId,
      agentId: work.agentId,
      agentTurnId: work.agentTurnId,
      stepId,
      stepNumber: work.stepCount + 1,
      profile,
      system: plan.system,
      messages: plan.messages,
      tools: plan.tools,
      onPiece: (piece: Parameters<typeof chunks.piece>[0]) => {
        timing.heard();
        chunks.piece(piece);
      },
    };
    const answer = readAnswer(await think({ brain, signal, clock, thinkMs, request }));
    timing.answered();
    chunks.end(answer, more());
    return answer;
  } catch (error) {
    timing.failed();
    chunks.end(undefined, { ...more(), error_code: error instanceof ToolplaneError ? error.code : "internal_error" });
    throw error;
  }
};
