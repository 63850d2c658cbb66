// The first of the protocol's two steps. A call takes one result card of its actor. When another process of the service wrote its
// card first, that card is reported instead.

import type { BuiltResult, CallbackPayload } from "@toolplane/protocol";
import { tryStandingResult } from "@toolplane/protocol/agents";
import type { Patience, ToolGateway } from "./gateway.ts";

export interface ResultToWrite extends Pick<BuiltResult, "card" | "payload"> {
  readonly leaseId: string | undefined;
}

/** What to report when it is written. */
export const writeResultCard = async (
  gateway: Pick<ToolGateway, "putCard">,
  { card, payload, leaseId }: ResultToWrite,
  patience?: Patience,
): Promise<CallbackPayload> => {
  try {
    await gateway.putCard({ card, leaseId }, patience);
    return payload;
  } catch (thrown) {
    const standing = tryStandingResult(thrown, payload);
    if (standing === undefined) throw thrown;
    return standing;
  }
};
