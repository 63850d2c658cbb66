// The first of the protocol's two steps. A call has room for one result card of its actor: where another process of the service
// was first, its card is the one to report.

import type { BuiltResult, CallbackPayload } from "@toolplane/protocol";
import { tryStandingResult } from "@toolplane/protocol/agents";
import type { Patience, ToolGateway } from "./gateway.ts";

/** What to report when it is written. */
export const writeResultCard = async (
  gateway: Pick<ToolGateway, "putCard">,
  { card, payload }: Pick<BuiltResult, "card" | "payload">,
  patience?: Patience,
): Promise<CallbackPayload> => {
  try {
    await gateway.putCard(card, patience);
    return payload;
  } catch (thrown) {
    const standing = tryStandingResult(thrown, payload);
    if (standing === undefined) throw thrown;
    return standing;
  }
};
