// Which session a call belongs to, decided when it is dispatched and never changed. Pure.
//   SE1. A call without an alias belongs to no session: it starts with the service's own initial state, and the state it leaves
//       is dropped.
//   SE2. The key names project, agent, target and alias (D-26): an alias belongs to one agent and one service.

import { type JsonObject, type ResolvedToolOptions, ToolplaneError } from "@toolplane/protocol";
import { sessionKey } from "@toolplane/protocol/registry";

export interface SessionPlace {
  readonly projectId: string;
  readonly agentId: string;
  readonly target: string;
}

/** The argument that names a session, for tools whose sessions are named by their callers. */
const SESSION_ARGUMENT = "session_id";

const aliasOf = (session: ResolvedToolOptions["session"], agentId: string, args: JsonObject): string | undefined => {
  if (session === "none") return undefined;
  if (session === "agent") return agentId;
  const given = args[SESSION_ARGUMENT];
  if (given === undefined || given === null || given === "") return undefined;
  if (typeof given !== "string") throw new ToolplaneError("bad_request", `${SESSION_ARGUMENT} must be a text`);
  return given;
};

/** The key of the call's session; null when it has none. */
export const planSession = (
  { projectId, agentId, target }: SessionPlace,
  session: ResolvedToolOptions["session"],
  args: JsonObject,
): string | null => {
  const alias = aliasOf(session, agentId, args);
  return alias === undefined ? null : sessionKey({ projectId, agentId, host: target }, alias);
};
