import { expect, test } from "vitest";
import { distinctIds, orderAsRequested } from "./card-order.ts";

test("[UTP-4.5-C1] the answer follows the input, duplicates included, unknown and blank ids skipped", () => {
  const ids = ["b", "zz", null, "a", "", "b", undefined];
  const cards = [{ card_id: "a" }, { card_id: "b" }];
  expect(orderAsRequested(ids, cards).map((found) => found.card_id)).toEqual(["b", "a", "b"]);
});

test("[UTP-4.5-C2] the store is asked for each id once", () => {
  expect(distinctIds(["b", null, "a", "b", "", undefined])).toEqual(["b", "a"]);
});
