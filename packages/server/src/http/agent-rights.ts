// What a token of an agent may start: the tools that the agent's profile allows, turns of its own agent, and turns of others as
// far as the profile's delegation policy allows. The same rules bind the agent inside its turns, so a token is no way around
// them.

import type { Engine } from "@toolplane/engine";
import { showName, ToolplaneError } from "@toolplane/protocol";
import { mayUseTool, planDelegation } from "@toolplane/protocol/registry";
import { boundAgent, type Own, type Who } from "./own.ts";

type Profiles = Pick<Engine, "agentProfiles">;

export const checkMayCall = async (
  { agentProfiles }: Profiles,
  who: Who,
  projectId: string,
  toolName: string,
): Promise<void> => {
  const self = boundAgent(who);
  if (self === undefined) return;
  const party = await agentProfiles.find(projectId, self);
  if (party?.agent.status !== "active")
    throw new ToolplaneError("invalid_source_actor", `${self} is not an active agent of project ${projectId}`);
  if (party.profile === undefined)
    throw new ToolplaneError("auth_failed", `agent ${self} has no profile, so it may use no tool: give it a profile`);
  if (!mayUseTool(party.profile, toolName))
    throw new ToolplaneError(
      "auth_failed",
      `agent ${self} may not use the tool ${showName(toolName)}: its profile ${party.profile.name} does not allow it`,
    );
};

/** An action uses a tool in the name of its agent, so a token of another agent may not ask for it: that agent's profile binds it. */
export const checkMayAct = (who: Who, agentId: string): void => {
  const self = boundAgent(who);
  if (self === undefined || self === agentId) return;
  throw new ToolplaneError(
    "auth_failed",
    `the token of agent ${self} acts for this agent only, not for ${showName(agentId)}; delegate to that agent instead`,
  );
};

export interface TurnAsk {
  readonly projectId: string;
  readonly agentId: string;
  /** A box the turn is to begin with. */
  readonly boxId?: string | undefined;
}

export type CardsToGive = (boxIds: readonly string[]) => Promise<readonly string[]>;

/**
 * The agent of a turn can read every box that the turn is given, also cards that come into the box later. So an agent gives only the
 * cards that are in the boxes now and that it may read; they go into a box of the turn's own. Undefined: people give the boxes themselves.
 */
export const cardsToGive = (
  boxes: Pick<Engine["boxes"], "loadBox">,
  own: Own,
  projectId: string,
): CardsToGive | undefined => {
  if (own.self === undefined) return undefined;
  return async (boxIds) => {
    const cards: string[] = [];
    for (const boxId of boxIds) {
      const cardIds = (await boxes.loadBox(projectId, boxId))?.cardIds ?? [];
      const visible = await own.among("card", cardIds);
      if (!cardIds.every((id) => visible.has(id)))
        throw new ToolplaneError(
          "auth_failed",
          `box ${showName(boxId)} holds cards that are not this agent's own; start the turn with a box of its own turns, or repeat in the instruction what matters`,
        );
      cards.push(...cardIds);
    }
    return cards;
  };
};

const checkMayDelegate = async ({ agentProfiles }: Profiles, who: Who, ask: TurnAsk): Promise<void> => {
  const self = boundAgent(who);
  if (self === undefined || self === ask.agentId) return;
  const [caller, target] = await Promise.all([
    agentProfiles.find(ask.projectId, self),
    agentProfiles.find(ask.projectId, ask.agentId),
  ]);
  const decision = planDelegation({
    caller: caller?.agent,
    callerProfile: caller?.profile,
    target: target?.profile,
  });
  if (!decision.allowed)
    throw new ToolplaneError(
      decision.code,
      `agent ${self} may not start a turn of ${showName(ask.agentId)}: ${decision.message}`,
    );
};

export const checkMayStart = async (engine: Profiles, who: Who, own: Own, ask: TurnAsk): Promise<void> => {
  if (ask.boxId !== undefined) await own.check("box", ask.boxId);
  await checkMayDelegate(engine, who, ask);
};
