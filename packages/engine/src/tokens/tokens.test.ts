// A token's secret is compared in a time that does not depend on where it differs.

import crypto, { createHash } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { systemClock } from "@toolplane/bus/ports";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Database } from "../sql/database.ts";
import { createTokens } from "./tokens.ts";

/** Sees every comparison, also of modules that are loaded already. */
const watchComparisons = () => {
  const compared = vi.spyOn(crypto, "timingSafeEqual");
  syncBuiltinESMExports();
  onTestFinished(() => {
    compared.mockRestore();
    syncBuiltinESMExports();
  });
  return compared;
};

const ID = "0123456789abcdef";
const secretOf = (fill: string): string => `tp_${ID}_${fill.repeat(64)}`;
const ROW = {
  token_id: ID,
  role: "viewer",
  project_id: "demo",
  actor_id: null,
  targets: [],
  label: "",
  created_at: new Date(0),
  expires_at: null,
  revoked_at: null,
  expired: false,
  secret_hash: createHash("sha256").update(secretOf("a")).digest("hex"),
};

test("[SEC-7-3] a known id with another secret is refused by a comparison of hashes in constant time, and nothing else decides", async () => {
  const db = { query: async () => [ROW] } as unknown as Database;
  const doorbell = { listen: () => () => {}, ring: () => {} };
  const tokens = createTokens({ db, doorbell: doorbell as never, clock: systemClock } as never);
  const compared = watchComparisons();
  expect(await tokens.check(secretOf("b"))).toBeUndefined();
  // One that differs in its last character only.
  expect(await tokens.check(`${secretOf("a").slice(0, -1)}b`)).toBeUndefined();
  expect(await tokens.check(secretOf("a"))).toMatchObject({ tokenId: ID, role: "viewer" });
  expect(compared.mock.calls.map(([one, other]) => [one.byteLength, other.byteLength])).toEqual([
    [32, 32],
    [32, 32],
    [32, 32],
  ]);
  tokens.close();
});
