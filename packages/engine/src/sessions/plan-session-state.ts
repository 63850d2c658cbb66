// The state that a call leaves to the next one of its session. Pure.
//   SE3. A failed call changes nothing. A call whose state cannot be stored fails; otherwise the session would continue wrongly.
//   SE4. Only the holder of the lease may change the state: only the holder was given it.

import { canonicalText, isRecord, ToolplaneError, understandError } from "@toolplane/protocol";
import { CARD_CAPS } from "../cards/prepare-card.ts";

export interface StateLeft {
  /** The key of the call's session. */
  readonly session: string | null;
  readonly held: boolean;
  readonly state: unknown;
}

/** The state as it is stored; null when there is none to store; or why it cannot be. */
export const planSessionState = ({ session, held, state }: StateLeft): string | null | ToolplaneError => {
  if (session === null || !held || state === undefined) return null;
  if (!isRecord(state)) return new ToolplaneError("result_not_serializable", "a session's state is a JSON object");
  try {
    return canonicalText(state, CARD_CAPS);
  } catch (error) {
    const { code, message, detail } = understandError(error, { keepMessage: true });
    return new ToolplaneError(code, `the state of the session cannot be kept: ${message}`, { detail, cause: error });
  }
};
