// In whose name a call is made. An agent's rights (what it may delegate to, whose idempotency keys it repeats) hang on
// that name, so it is not simply believed.
//   - A token that is bound to an agent speaks for that agent, and for no other.
//   - Nobody outside speaks for a part of the plane itself (`sys.`, `tool.`).

import { isTrustedActor, ToolplaneError } from "@toolplane/protocol";
import { boundAgent } from "./own-work.ts";
import type { Caller } from "./route.ts";

const API_ACTOR = "sys.api";

/** Undefined: nobody in particular, the API itself. */
export const callerAgent = (
  caller: Pick<Caller, "token" | "actorId">,
  asked: string | undefined,
): string | undefined => {
  const bound = boundAgent(caller);
  if (asked === undefined) return bound;
  if (bound !== undefined && asked !== bound)
    throw new ToolplaneError("auth_failed", `this token speaks for agent ${bound} only; leave agent_id out`);
  if (isTrustedActor(asked) && asked !== API_ACTOR)
    throw new ToolplaneError("auth_failed", "agent_id names an agent of the project, not a part of the system");
  return asked;
};
