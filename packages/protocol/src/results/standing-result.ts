// For a result card that was refused because its call already has a card of the same author: the existing card is reported
// instead, so that two writers of one call agree (UTP 4.4).

import { isToolplaneError } from "../errors/toolplane-error.ts";
import { isFilled } from "../json/json-value.ts";
import type { CallbackPayload } from "../payloads/callback.ts";
import { isResultStatus } from "./value-sets.ts";

/** The callback of the card that is there, or undefined when the card was refused for another reason. */
export const tryStandingResult = (refused: unknown, own: CallbackPayload): CallbackPayload | undefined => {
  if (!isToolplaneError(refused) || refused.code !== "conflict") return undefined;
  const { tool_result_card_id, status } = refused.detail ?? {};
  if (!isFilled(tool_result_card_id) || !isResultStatus(status)) return undefined;
  return { ...own, status, tool_result_card_id };
};
