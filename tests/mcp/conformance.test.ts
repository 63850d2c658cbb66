// The protocol's own test suite against this server, in both eras. The suite sends no token, so a proxy adds it. Its tools are
// ordinary tools of a project (conformance-tools.ts).

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { conformanceTools } from "./conformance-tools.ts";
import { EXPECTED_FAILURES } from "./expected-failures.ts";
import { type McpStack, startMcpStack, startTokenProxy } from "./mcp-stack.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const SUITE = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
);

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

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

const runSuite = async (revision: string, out: string): Promise<string> => {
  const url = `${proxy.origin}/mcp/demo`;
  const child = spawn(process.execPath, [SUITE, "server", "--url", url, "--requirements", revision, "-o", out], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
  await new Promise((resolve) => child.on("close", resolve));
  return said;
};

const readResults = (out: string): ReadonlyMap<string, readonly Check[]> =>
  new Map(
    readdirSync(out).map((name) => {
      const checks = JSON.parse(readFileSync(join(out, name, "checks.json"), "utf8")) as Check[];
      return [name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, ""), checks] as const;
    }),
  );

const failuresOf = (checks: readonly Check[]): readonly string[] =>
  checks.filter(({ status }) => status === "FAILURE").map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ""}`);

test.each(["2025-11-25", "2026-07-28"])("[API-MCP-4] the protocol's test suite, %s", async (revision) => {
  const out = mkdtempSync(join(tmpdir(), "toolplane-conformance-"));
  try {
    const said = await runSuite(revision, out);
    const results = readResults(out);
    expect(results.size, said.slice(-2_000)).toBeGreaterThan(30);
    const failed = [...results].filter(([, checks]) => failuresOf(checks).length > 0);
    const expected = EXPECTED_FAILURES[revision] ?? {};
    const surprises = failed.filter(([name]) => !Object.hasOwn(expected, name));
    expect(surprises.map(([name, checks]) => [name, failuresOf(checks)])).toEqual([]);
    const names = new Set(failed.map(([name]) => name));
    expect(Object.keys(expected).filter((name) => !names.has(name))).toEqual([]);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});
