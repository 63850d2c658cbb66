// The protocol's own test suite against the client side of the bridge, in both eras: every scenario that the revisions have for a
// client, but those about OAuth, which the bridge does not have. The long tests run those too (mcp.long.ts).

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type BundledClient, bundleClient } from "./bundle-client.ts";
import { clientScenarios, compareWith, runClientScenarios } from "./conformance-suite.ts";
import { CLIENT_FAILURES } from "./expected-failures.ts";

vi.setConfig({ testTimeout: 180_000 });

let client: BundledClient;
beforeAll(async () => {
  client = await bundleClient();
});
afterAll(() => client?.[Symbol.dispose]());

test.each(["2025-11-25", "2026-07-28"])("[API-MCP-1] the protocol's test suite for clients, %s", async (revision) => {
  const scenarios = clientScenarios(revision).filter((name) => !name.startsWith("auth/"));
  const { "auth/*": _, ...expected } = CLIENT_FAILURES[revision] ?? {};
  const run = await runClientScenarios(client.command, revision, scenarios);
  expect([...run.scenarios.keys()].toSorted(), run.said).toEqual(scenarios.toSorted());
  const difference = compareWith(expected, run);
  expect(difference, JSON.stringify(difference)).toEqual({ surprises: [], stale: [] });
});
