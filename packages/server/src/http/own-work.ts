// What a token of role agent may look at and end: the turns and calls of its agent, and those its agent started.
//   - People act on everything in their project: admins, operators, and viewers who look.
//   - A token that is bound to no agent speaks for the API: what was started over it, in whose name ever, is its own to end. It
//     looks at everything, as the program of a person does.
//   - What agents work with together (tools, roster, profiles, cards and boxes, events) is the project's, not one agent's.

import type { CallView, Engine, TurnView } from "@toolplane/engine";
import { isTrustedActor, ToolplaneError } from "@toolplane/protocol";
import type { Caller } from "./route.ts";

type Who = Pick<Caller, "token" | "actorId">;
type Turn = Pick<TurnView, "agentId" | "sourceAgentId" | "parentAgentId">;
type Call = Pick<CallView, "projectId" | "toolCallId" | "agentId" | "agentTurnId" | "headless">;

/** The agent a token speaks for; undefined for everybody else. */
export const boundAgent = ({ token, actorId }: Who): string | undefined =>
  token.role === "agent" && !isTrustedActor(actorId) ? actorId : undefined;

const isOwnTurn = (self: string, { agentId, sourceAgentId, parentAgentId }: Turn): boolean =>
  agentId === self || sourceAgentId === self || parentAgentId === self;

const isOwnCall = async ({ turns }: Pick<Engine, "turns">, { actorId }: Who, call: Call): Promise<boolean> => {
  if (call.agentId === actorId || (call.headless && isTrustedActor(actorId))) return true;
  const turn = call.headless ? undefined : await turns.get(call);
  return turn !== undefined && isOwnTurn(actorId, turn);
};

const notYours = (who: Who, what: string): ToolplaneError =>
  new ToolplaneError(
    "auth_failed",
    boundAgent(who) === undefined
      ? `this token is of role agent, and ${what} was not started over the API: it takes an operator's`
      : `this token speaks for agent ${who.actorId}, and ${what} is neither its own nor one it started`,
  );

/** Nobody ends the work of others but operators. */
export const checkMayStop = (who: Who, turn: Turn & Pick<TurnView, "agentTurnId">): void => {
  if (who.token.role === "agent" && !isOwnTurn(who.actorId, turn)) throw notYours(who, `turn ${turn.agentTurnId}`);
};

export const checkMayCancel = async (engine: Pick<Engine, "turns">, who: Who, call: Call): Promise<void> => {
  if (who.token.role === "agent" && !(await isOwnCall(engine, who, call)))
    throw notYours(who, `call ${call.toolCallId}`);
};

/** An agent sees its own work; whoever is bound to none sees the project's. */
export const checkMaySeeTurn = (who: Who, turn: Turn & Pick<TurnView, "agentTurnId">): void => {
  if (boundAgent(who) !== undefined) checkMayStop(who, turn);
};

export const checkMaySeeCall = async (engine: Pick<Engine, "turns">, who: Who, call: Call): Promise<void> => {
  if (boundAgent(who) !== undefined) await checkMayCancel(engine, who, call);
};

/** The lists that show the work of everybody. */
export const refuseBound = (who: Who, instead: string): void => {
  const agent = boundAgent(who);
  if (agent !== undefined)
    throw new ToolplaneError("auth_failed", `this token speaks for agent ${agent} and sees its work only: ${instead}`);
};
