import { createTraceparent } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { createIds, sha256 } from "./ids.ts";

test("ids are UUIDv7 without dashes, different, and fit for traces", () => {
  const ids = createIds(() => 1_800_000_000_000);
  const made = Array.from({ length: 100 }, () => ids.cardId());
  expect(new Set(made).size).toBe(100);
  for (const id of made) expect(id).toMatch(/^01a3185c50007[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  expect(() => createTraceparent(ids)).not.toThrow();
  expect(sha256("")).toMatch(/^e3b0c442/);
});
