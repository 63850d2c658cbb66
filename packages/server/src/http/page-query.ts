// The query of every list: how many items, and after which. A cursor is the last key of the previous page, in a form that nothing
// else has, so an invented cursor is refused instead of giving an empty page.

import { ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";

export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).optional(),
  cursor: z.string().max(1_024).optional(),
});

/** For lists whose pages are cut here; the registry cuts its own. */
export const keyOfCursor = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const key = Buffer.from(cursor, "base64url").toString("utf8");
  if (key === "" || key.includes("\u0000") || Buffer.from(key).toString("base64url") !== cursor)
    throw new ToolplaneError("bad_request", "cursor does not come from this list; use next_cursor of the page before", {
      detail: { path: "$.cursor" },
    });
  return key;
};

/** The cursor after a page; null when the page was not full. */
export const cursorAfter = (keys: readonly string[], limit: number): string | null => {
  const last = keys.length < limit ? undefined : keys.at(-1);
  return last === undefined ? null : Buffer.from(last).toString("base64url");
};
