// Lists in pages by key: the cursor is the last key seen, so a page costs the same wherever it is, and rows that come or
// go in between never shift the others. Filters belong into the statement, before the limit (W-30).
// A page is also bounded in bytes: the statement adds up the sizes of the rows and ends after the first row that exceeds the bound
// (page-bytes.sql.ts). A page has at least one row, of any size.

import { ToolplaneError } from "@toolplane/protocol";

export interface PageRequest {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

export interface PageBounds {
  /** Everything greater than this key; the empty string is below every key. */
  readonly after: string;
  readonly limit: number;
}

/** The most bytes that the documents of one page may have together. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** A row of a list whose documents may be large. */
export interface WeighedRow {
  /** The bytes of the documents of the page, up to this row. */
  readonly taken: number;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;
/** Twice the longest key there is. */
const MAX_CURSOR_LENGTH = 1_024;

/** The cursor of a page whose last item has this key: in a form that nothing else has, so that an invented one is refused. */
export const cursorOf = (key: string): string => Buffer.from(key).toString("base64url");

export const keyOfCursor = (cursor: string): string => {
  const key = cursor.length > MAX_CURSOR_LENGTH ? "" : Buffer.from(cursor, "base64url").toString("utf8");
  if (key === "" || key.includes("\u0000") || cursorOf(key) !== cursor)
    throw new ToolplaneError("bad_request", "cursor does not come from this list; use next_cursor of the page before", {
      detail: { path: "$.cursor" },
    });
  return key;
};

export const parsePage = ({ limit = DEFAULT_LIMIT, cursor }: PageRequest): PageBounds => {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new ToolplaneError("bad_request", `limit is a whole number from 1 to ${MAX_LIMIT}`, {
      detail: { path: "$.limit", max: MAX_LIMIT },
    });
  return { after: cursor === undefined ? "" : keyOfCursor(cursor), limit };
};

/** From up to limit + 1 rows to a page. */
export const toPage = <Row, Item>(
  rows: readonly (Row & Partial<WeighedRow>)[],
  { limit }: PageBounds,
  keyOf: (row: Row) => string,
  toItem: (row: Row) => Item,
): Page<Item> => {
  const shown = rows.slice(0, limit).filter(({ taken = 0 }, index) => index === 0 || taken <= MAX_PAGE_BYTES);
  const last = shown.at(-1);
  const items = shown.map(toItem);
  if (rows.length <= shown.length || last === undefined) return { items };
  return { items, nextCursor: cursorOf(keyOf(last)) };
};
