// What a request for a turn asks of the engine: what the turn begins with and what it may use up.
//   CV1. `continue` names an earlier turn of the same agent that is over. The new turn begins with everything that turn was given and
//        wrote, so also with what came before it: each card once, in order.
//   CV2. A budget of a turn replaces the profile's, key by key; the budget of a turn that an agent asks for can only lower it.

import { type Engine, notThere } from "@toolplane/engine";
import { type JsonObject, parseWith, ToolplaneError } from "@toolplane/protocol";
import { turnBudgetSchema } from "@toolplane/protocol/registry";
import { z } from "zod";
import type { CardsToGive } from "../http/agent-rights.ts";

export const askFields = {
  instruction: z.string().min(1).max(200_000).optional(),
  context_box_id: z.string().min(1).max(128).optional(),
  continue: z.string().min(1).max(128).optional(),
  budget: turnBudgetSchema.optional(),
  result_fields: z
    .array(z.strictObject({ name: z.string().min(1).max(128), description: z.string().max(2_000).optional() }))
    .max(100)
    .optional(),
};

const askSchema = z.object(askFields);
export type TurnAskBody = z.infer<typeof askSchema>;

export const parseAsk = (input: unknown): TurnAskBody => parseWith(askSchema, input, "turn");

export interface AskMeans {
  readonly engine: Pick<Engine, "turns" | "history">;
  readonly projectId: string;
  readonly agentId: string;
  readonly packedBy: string;
  /** An agent asks: the budget may only lower what the profile says. */
  readonly byAgent?: boolean | undefined;
  /** For an agent: the cards of boxes that it may give on; it throws for a box with cards of others. */
  readonly give?: CardsToGive | undefined;
}

/** The boxes of the turn that is continued, in the order in which they were filled. */
const readContinued = async (
  { engine, projectId, agentId }: AskMeans,
  agentTurnId: string,
): Promise<readonly string[]> => {
  const key = { projectId, agentTurnId };
  const turn = await engine.turns.get(key);
  if (turn === undefined) throw notThere("turn", agentTurnId, await engine.history.tombstone(key));
  if (turn.agentId !== agentId)
    throw new ToolplaneError(
      "bad_request",
      `turn ${agentTurnId} is a turn of agent ${turn.agentId}: only that agent can continue it`,
    );
  if (turn.endedAt === null)
    throw new ToolplaneError("conflict", `turn ${agentTurnId} is ${turn.status}: wait for its end, then continue it`);
  return [turn.contextBoxId, turn.outputBoxId];
};

/**
 * An instruction makes a new box, after the cards of what is given; a box alone is used as it is. The cards that an agent gives
 * make a new box either way. `namedBoxIds` tell a repeated request from another one.
 */
const contextOf = async (means: AskMeans, body: TurnAskBody) => {
  const { instruction, context_box_id: boxId, result_fields: resultFields, continue: continued } = body;
  if (boxId !== undefined && continued !== undefined)
    throw new ToolplaneError("bad_request", "continue and context_box_id both say what a turn begins with: give one");
  if (instruction === undefined && (boxId === undefined || resultFields !== undefined))
    throw new ToolplaneError("bad_request", "a turn needs an instruction: what the agent is to do");
  const given = continued === undefined ? [boxId] : await readContinued(means, continued);
  const namedBoxIds = given.filter((id) => id !== undefined);
  if (instruction === undefined && means.give === undefined) return { context: { boxId: boxId ?? "" }, namedBoxIds };
  const packed = { instruction: instruction ?? "", resultFields, packedBy: means.packedBy };
  if (means.give === undefined || namedBoxIds.length === 0)
    return { context: { ...packed, inheritBoxIds: namedBoxIds }, namedBoxIds };
  return { context: { ...packed, inheritCardIds: await means.give(namedBoxIds) }, namedBoxIds };
};

export const planAsk = async (means: AskMeans, body: TurnAskBody) => ({
  ...(await contextOf(means, body)),
  metadata: body.continue === undefined ? undefined : { continues: body.continue },
  runtimeConfig:
    body.budget === undefined
      ? undefined
      : ({ budget: body.budget, ...(means.byAgent === true ? { budget_only_lowers: true } : {}) } as JsonObject),
});
