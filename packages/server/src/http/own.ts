// What a caller may see of a project's work.
//   - People see all of it: admins, operators and viewers.
//   - A token of role agent sees what its agent made, was given or started (the engine's ownership). A token that names no agent
//     sees what was started with it.
// A route says in the table what it gives (route.ts); the application asks here before the handler runs.

import type { Engine, OwnedKind, Token } from "@toolplane/engine";
import { isTrustedActor, showName, ToolplaneError } from "@toolplane/protocol";

export interface Who {
  readonly token: Token;
  readonly actorId: string;
}

/** The agent a token speaks for; undefined for all other tokens. */
export const boundAgent = ({ token, actorId }: Who): string | undefined =>
  token.role === "agent" && !isTrustedActor(actorId) ? actorId : undefined;

export interface Own {
  /** The agent whose work alone is shown; undefined: all work. */
  readonly self: string | undefined;
  /** Those of the ids that this caller may see. For callers that see everything, ids that do not exist may be among them. */
  among(kind: OwnedKind, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Like `among`, for the turns of a stream. Answers are remembered, because a stream asks for the same turns again and again. */
  turnsOfStream(turnIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Refuses a thing that exists and belongs to another; for a thing that does not exist the handler answers. */
  check(kind: OwnedKind, id: string): Promise<void>;
}

const notYours = (who: Who, what: string): ToolplaneError => {
  const agent = boundAgent(who);
  return new ToolplaneError(
    "auth_failed",
    agent === undefined
      ? `this token is of role agent and names no agent, and ${what} was not started with it: use an operator's token`
      : `this token speaks for agent ${agent}, and ${what} is not its own: the agent neither made, was given nor started it`,
  );
};

const all = async (ids: readonly string[]): Promise<ReadonlySet<string>> => new Set(ids);

/** For callers whose rights do not depend on ownership. */
const EVERYTHING: Own = { self: undefined, among: (_kind, ids) => all(ids), turnsOfStream: all, check: async () => {} };

export const createOwn = ({ ownership }: Pick<Engine, "ownership">, who: Who, projectId: string): Own => {
  // A tool's token is bound to targets; its routes check those.
  if (who.token.role !== "agent") return EVERYTHING;
  const owner = { projectId, agentId: who.actorId };
  return {
    self: who.actorId,
    async among(kind, ids) {
      const found = await ownership.of(kind, owner, ids);
      return new Set(ids.filter((id) => found.get(id) === true));
    },
    turnsOfStream: (turnIds) => ownership.ownTurns(owner, turnIds),
    async check(kind, id) {
      if ((await ownership.of(kind, owner, [id])).get(id) === false) throw notYours(who, `${kind} ${showName(id)}`);
    },
  };
};
