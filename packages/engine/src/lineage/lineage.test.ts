import { expect, test } from "vitest";
import { type ExecutionEdgeRow, planEdgePage } from "./lineage.ts";

const at = (place: string, edge_id: string) => ({ at: place, edge: { edge_id } as ExecutionEdgeRow });
const idsOf = ({ items }: { readonly items: readonly ExecutionEdgeRow[] }) => items.map(({ edge_id }) => edge_id);

test("[SEE-6] a page of edges holds the newest places, and the edges of one place stay together", () => {
  const all = [at("01", "old"), at("03", "answered"), at("03", "asked"), at("02", "turn")];
  const first = planEdgePage(all, ["01", "03", "02"], 2);
  expect(idsOf(first)).toEqual(["answered", "asked", "turn"]);
  expect(Buffer.from(first.nextCursor ?? "", "base64url").toString()).toBe("02");
});

test("[SEE-6] a page goes on behind places that have no edge, and the last page has no cursor", () => {
  const page = planEdgePage([at("01", "old")], ["05", "04", "01"], 2);
  expect([idsOf(page), Buffer.from(page.nextCursor ?? "", "base64url").toString()]).toEqual([[], "04"]);
  expect(planEdgePage([at("01", "old")], ["01"], 2)).toEqual({ items: [{ edge_id: "old" }] });
});
