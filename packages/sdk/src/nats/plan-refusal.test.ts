import { type ErrorCode, ToolplaneError } from "@toolplane/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { planNotOurs, planRefusal } from "./plan-refusal.ts";

const refused = (code: ErrorCode, detail?: Record<string, unknown>): ToolplaneError =>
  new ToolplaneError(code, `said ${code}`, { detail });

test.each([
  ["held by somebody", refused("lease_lost", { status: "running" }), { kind: "forget" }],
  ["refused without a reason", refused("lease_lost"), { kind: "forget" }],
  ["over", refused("already_settled"), { kind: "forget" }],
  ["unknown", refused("not_found"), { kind: "forget" }],
  ["canceled", refused("canceled"), { kind: "forget" }],
  ["not due", refused("lease_lost", { status: "queued" }), { kind: "later", delayMs: 100, trouble: false }],
  [
    "held by a rate",
    refused("lease_lost", { status: "queued", retry_after_ms: 37.2 }),
    { kind: "later", delayMs: 38, trouble: false },
  ],
  [
    "held by a rate for long",
    refused("lease_lost", { status: "queued", retry_after_ms: 1e9 }),
    { kind: "later", delayMs: 30_000, trouble: false },
  ],
  ["the plane is away", refused("upstream_unavailable"), { kind: "later", delayMs: 500, trouble: true }],
  ["the store is busy", refused("storage_error"), { kind: "later", delayMs: 500, trouble: true }],
  ["too many at once", refused("rate_limited"), { kind: "later", delayMs: 500, trouble: true }],
  ["this service may not", refused("auth_failed"), { kind: "later", delayMs: 500, trouble: true }],
  ["too large", refused("payload_too_large"), { kind: "later", delayMs: 100, trouble: false }],
  ["wrong", refused("protocol_violation"), { kind: "never", reason: "protocol_violation: said protocol_violation" }],
] as const)("[API-5-N2] a command whose call is %s", (_name, error, fate) => {
  expect(planRefusal(error, 1, () => 1)).toEqual(fate);
});

test("[API-5-N3] another project's command comes back soon at first, then less and less often", () => {
  const delays = [1, 2, 3, 5, 9, 20].map((attempt) => planNotOurs(attempt, () => 1));
  expect(delays).toMatchObject([100, 200, 400, 1_600, 25_600, 30_000].map((delayMs) => ({ kind: "later", delayMs })));
});

test("[API-5-N2] no delay is longer than half a minute, whatever the count and the chance", () => {
  const codes = ["lease_lost", "upstream_unavailable", "auth_failed", "payload_too_large"] as const;
  fc.assert(
    fc.property(
      fc.constantFrom(...codes),
      fc.nat(1_000_000),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (code, n, chance) => {
        const fate = planRefusal(refused(code, { status: "queued" }), n + 1, () => chance);
        if (fate.kind !== "later") throw new RangeError("not later");
        expect(fate.delayMs).toBeGreaterThan(0);
        expect(fate.delayMs).toBeLessThanOrEqual(30_000);
      },
    ),
  );
});
