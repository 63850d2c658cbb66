import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Page, parsePage, toPage } from "./page.ts";

/** A list as the database would page it. */
const listPage = (keys: readonly string[], request: { limit?: number; cursor?: string | undefined }): Page<string> => {
  const bounds = parsePage(request);
  const rows = keys.filter((key) => key > bounds.after).slice(0, bounds.limit + 1);
  return toPage(
    rows,
    bounds,
    (key) => key,
    (key) => key,
  );
};

const walkAll = (keys: readonly string[], limit: number): readonly string[] => {
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = listPage(keys, { limit, cursor });
    seen.push(...page.items);
    if (page.nextCursor === undefined) return seen;
    expect(page.items).toHaveLength(limit);
    cursor = page.nextCursor;
  }
};

describe("pages", () => {
  test("[API-4-E4] walking by cursor sees every row once, in order, whatever the page size", () => {
    const key = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }).filter((text) => !text.includes("\u0000"));
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 40 }), fc.integer({ min: 1, max: 10 }), (keys, limit) => {
        const sorted = [...keys].sort();
        expect(walkAll(sorted, limit)).toEqual(sorted);
      }),
    );
  });

  test("an exact last page has no cursor", () => {
    expect(listPage(["a", "b"], { limit: 2 })).toEqual({ items: ["a", "b"] });
    expect(listPage([], {})).toEqual({ items: [] });
  });

  test.each([
    { limit: 0 },
    { limit: -1 },
    { limit: 501 },
    { limit: 2.5 },
    { limit: Number.NaN },
    { cursor: "" },
    { cursor: "not base64!" },
    { cursor: "AA" },
    { cursor: "YQ==" },
    { cursor: "x".repeat(2_000) },
  ])("[API-4-E4] %j is refused", (request) => {
    expect(() => parsePage(request)).toThrow(expect.objectContaining({ code: "bad_request" }));
  });
});
