// Two planes on one NATS: subjects, durables and the gateway have the same names in both, so there is one.

import { expect, test, vi } from "vitest";
import { openPlane } from "./plane.ts";

vi.setConfig({ testTimeout: 120_000 });

test("[UP-9-11] a plane does not start on a NATS where a plane with another database is; its own processes do", async () => {
  await using plane = await openPlane("nats");
  await using other = await openPlane("postgres");
  const first = plane.up("api");
  await first.ready();
  const foreign = other.up("api", "--nats-url", plane.nats?.url ?? "");
  const own = plane.up("pmo");
  expect(await foreign.exited).toBe(1);
  const line = foreign.stderr().trimEnd().split("\n").at(-1) ?? "";
  expect(line).toContain("another plane, with another database, is on this NATS already: process ");
  expect(line).toContain("give each plane a NATS server or account of its own");
  await own.ready();
});
