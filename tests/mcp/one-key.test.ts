import { expect, test } from "vitest";
import { runOneKey } from "./one-key.ts";

test("[API-MCP-5] one key at once over HTTP and MCP, its command delivered three times: one run, one result card", async () => {
  const { commands, copies, ...rest } = await runOneKey(10);
  expect(rest).toEqual({ rounds: 10, runs: 10, resultCards: 10 });
  expect(commands).toBeGreaterThanOrEqual(10);
  expect(copies).toBeGreaterThanOrEqual(20);
});
