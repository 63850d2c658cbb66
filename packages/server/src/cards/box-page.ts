// A page of a box, from its newest card backwards. A cursor is the place of the first card that was shown: a box only grows at its end,
// and may hold a card twice, so places are safe and ids are not.

import { ToolplaneError } from "@toolplane/protocol";

export interface BoxPage {
  readonly cardIds: readonly string[];
  /** The place of the first of them in the box. */
  readonly start: number;
}

export const planBoxPage = (cardIds: readonly string[], limit: number, before: string | undefined): BoxPage => {
  const end = before === undefined ? cardIds.length : Number(before);
  if (!(Number.isInteger(end) && end >= 0 && end <= cardIds.length))
    throw new ToolplaneError("bad_request", "the cursor is not of this box: take Toolplane-Next-Cursor of its answer", {
      detail: { path: "$.cursor" },
    });
  const start = Math.max(end - limit, 0);
  return { cardIds: cardIds.slice(start, end), start };
};
