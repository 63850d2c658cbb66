// The holder of a token, as the audit writes it down.

import type { Actor } from "@toolplane/engine";
import type { Caller } from "./route.ts";

export const actorOf = ({ token, actorId }: Caller): Actor => ({
  door: "http",
  tokenId: token.tokenId,
  role: token.role,
  actor: token.label || actorId,
});

/** Like `actorOf`, for work that agents change too. Undefined for an agent: only a person's change counts as an administrative act. */
export const personOf = (caller: Caller): Actor | undefined =>
  caller.token.role === "agent" ? undefined : actorOf(caller);
