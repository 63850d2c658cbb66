// In whose name the holder of a token acts. Pure.
//   TA1. People and programs of the plane are the API.
//   TA2. A token of role agent is the agent it names. An agent token that names no agent is an actor of its own: it owns what it started,
//        and shares nothing with the API or with another token. Such an actor has no row in the roster.

import type { Token } from "./tokens.ts";

const API_ACTOR = "sys.api";
const OWN_PREFIX = "sys.token_";

export const actorOfToken = ({ tokenId, role, actorId }: Pick<Token, "tokenId" | "role" | "actorId">): string =>
  actorId ?? (role === "agent" ? `${OWN_PREFIX}${tokenId}` : API_ACTOR);

/** An actor of the plane by its name, with the rights of an agent: it sees what it started and nothing else. */
export const isTokenActor = (actorId: string): boolean => actorId.startsWith(OWN_PREFIX);
