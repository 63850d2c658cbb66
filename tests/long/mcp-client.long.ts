// The protocol's test suite against the client side of the bridge, scenario by scenario. Every scenario that the revisions require of a
// client is run, except OAuth: a server's headers come from variables, and no token is fetched.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SUITE = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
);
const CLIENT = fileURLToPath(new URL("../mcp/programs/conformance-client.ts", import.meta.url));

const HOOK = fileURLToPath(new URL("../../scripts/source-hook.mjs", import.meta.url));

const REFUSED = "a server that asks a person something is refused in words";

/** Scenarios that fail, with the reason; the test fails when one of them passes. */
const EXPECTED_FAILURES: Readonly<Record<string, string>> = {
  "elicitation-sep1034-client-defaults": REFUSED,
  "sep-2322-client-request-state": REFUSED,
};

const SCENARIOS: readonly (readonly [string, string])[] = [
  ["2025-11-25", "initialize"],
  ["2025-11-25", "tools_call"],
  ["2025-11-25", "sse-retry"],
  ["2025-11-25", "elicitation-sep1034-client-defaults"],
  ["2025-11-25", "json-schema-2020-12-preservation"],
  ["2026-07-28", "tools_call"],
  ["2026-07-28", "request-metadata"],
  ["2026-07-28", "sep-2322-client-request-state"],
  ["2026-07-28", "http-standard-headers"],
  ["2026-07-28", "http-custom-headers"],
  ["2026-07-28", "http-invalid-tool-headers"],
  ["2026-07-28", "json-schema-ref-no-deref"],
  ["2026-07-28", "json-schema-2020-12-preservation"],
];

const run = async (
  revision: string,
  scenario: string,
): Promise<{ readonly code: number | null; readonly said: string }> => {
  const command = `${process.execPath} --no-warnings --import ${HOOK} ${CLIENT}`;
  const child = spawn(
    process.execPath,
    [SUITE, "client", "--command", command, "--scenario", scenario, "--spec-version", revision],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, said };
};

test.each(SCENARIOS)("%s %s", async (revision, scenario) => {
  const { code, said } = await run(revision, scenario);
  expect(code === 0, said.slice(-2_000)).toBe(!Object.hasOwn(EXPECTED_FAILURES, scenario));
});
