// The protocol's own test suite against this server, in both eras. The suite sends no token, so a proxy adds it. Its tools are
// ordinary tools of a project (conformance-tools.ts).

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { compareWith, runSuite } from "./conformance-suite.ts";
import { conformanceTools } from "./conformance-tools.ts";
import { SERVER_FAILURES } from "./expected-failures.ts";
import { type McpStack, startMcpStack, startTokenProxy } from "./mcp-stack.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

let stack: McpStack;
let proxy: Awaited<ReturnType<typeof startTokenProxy>>;

beforeAll(async () => {
  stack = await startMcpStack((http) => {
    let changes = 0;
    return conformanceTools(async () => {
      changes += 1;
      await http.t.engine.tools.upsertTool(http.t.projectId, {
        tool_name: "zz_changing",
        description: `Changed ${changes} times`,
        target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.nobody.zz_changing",
        after_execution: "suspend",
      });
    });
  });
  proxy = await startTokenProxy(stack.origin, stack.http.admin);
});
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

test.each(["2025-11-25", "2026-07-28"])("[API-MCP-4] the protocol's test suite, %s", async (revision) => {
  const run = await runSuite("server", ["--url", `${proxy.origin}/mcp/demo`, "--requirements", revision]);
  expect(run.scenarios.size, run.said.slice(-2_000)).toBeGreaterThan(30);
  const difference = compareWith(SERVER_FAILURES[revision] ?? {}, run);
  expect(difference, JSON.stringify(difference)).toEqual({ surprises: [], stale: [] });
});
