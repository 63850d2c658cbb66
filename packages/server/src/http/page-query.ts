// The query of every list: how many items, and after which. The engine has the form of a cursor.

import { cursorOf, keyOfCursor as keyOf } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";

export const pageQuery = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(500)
    .optional()
    .meta({ description: "How many at most; 100 unless given." }),
  cursor: z.string().max(1_024).optional().meta({ description: "`next_cursor` of the page before." }),
});

/** For lists whose pages are cut here; the registry cuts its own. */
export const keyOfCursor = (cursor: string | undefined): string | undefined =>
  cursor === undefined ? undefined : keyOf(cursor);

/** The cursor after a page; null when the page was not full. */
export const cursorAfter = (keys: readonly string[], limit: number): string | null => {
  const last = keys.length < limit ? undefined : keys.at(-1);
  return last === undefined ? null : cursorOf(last);
};

/** A page of a list that is in memory as a whole, by key. */
export const pageOfKnown = <Item>(
  items: readonly Item[],
  keyOfItem: (item: Item) => string,
  { limit = 100, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): { readonly items: readonly Item[]; readonly nextCursor: string | null } => {
  const after = keyOfCursor(cursor) ?? "";
  const rest = items
    .map((item) => ({ item, key: keyOfItem(item) }))
    .filter(({ key }) => key > after)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const shown = rest.slice(0, limit);
  const last = rest.length > shown.length ? shown.at(-1) : undefined;
  return { items: shown.map(({ item }) => item), nextCursor: last === undefined ? null : cursorOf(last.key) };
};

/** Filters by name and id. A text that cannot be a name is refused: an empty list would look like a correct answer. */
const named = (pattern: RegExp, what: string, max: number) => z.string().max(max).regex(pattern, what).optional();

export const toolNameQuery = named(/^[A-Za-z0-9_-]+$/, "is the name of a tool: letters, digits, _ and -", 64);
export const tokenQuery = named(/^[A-Za-z0-9_.-]+$/, "is an id: letters, digits, _, - and dots", 128);
export const errorCodeQuery = named(/^[A-Za-z0-9_.:-]+$/, "is a code such as tool_timeout", 64);
export const traceIdQuery = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f]{32}$/, "is 32 hexadecimal digits")
  .optional();

const moment = z.iso.datetime({ offset: true }).optional();

/** Lists of what has a time. */
export const timeQuery = {
  since: moment.meta({ description: "Made at this time or later." }),
  until: moment.meta({ description: "Made before this time." }),
};

export const spanOf = ({
  since,
  until,
}: {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}) => {
  const sinceMs = since === undefined ? undefined : Date.parse(since);
  const untilMs = until === undefined ? undefined : Date.parse(until);
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs >= untilMs)
    throw new ToolplaneError("bad_request", "since is not before until: no time lies between them", {
      detail: { path: "$.since" },
    });
  return { sinceMs, untilMs };
};
