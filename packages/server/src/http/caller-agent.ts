// In whose name a call is made. An agent's rights (tools, delegation, idempotency keys) depend on that name, so it is checked.
//   - A token of role agent speaks for the agent it is bound to, or for itself if it is bound to none (TA2).
//   - People may name any agent of their project; no caller from outside may name a part of the plane itself (`sys.`, `tool.`).

import { isTokenActor } from "@toolplane/engine";
import { isTrustedActor, ToolplaneError } from "@toolplane/protocol";
import { boundAgent, type Who } from "./own.ts";

export const API_ACTOR = "sys.api";

/** Undefined: no agent; the call is the API's own. */
export const callerAgent = (caller: Who, asked: string | undefined): string | undefined => {
  const bound = boundAgent(caller);
  const isItself = isTokenActor(caller.actorId) && (asked === undefined || asked === caller.actorId);
  if (isItself) return caller.actorId;
  if (asked === undefined) return bound;
  if (bound !== undefined && asked !== bound)
    throw new ToolplaneError("auth_failed", `this token speaks for agent ${bound} only; leave agent_id out`);
  if (isTrustedActor(asked) && asked !== API_ACTOR)
    throw new ToolplaneError("auth_failed", "agent_id names an agent of the project, not a part of the system");
  if (caller.token.role === "agent" && asked !== caller.actorId)
    throw new ToolplaneError(
      "auth_failed",
      `this token speaks for no agent; leave agent_id out, or use a token that was made for agent ${asked}`,
    );
  return asked;
};
