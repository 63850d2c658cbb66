// What a Python service knows and must not say: its token and the secrets its tools declare.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@toolplane/testkit";
import { expect, onTestFinished, test } from "vitest";
import { requirePython, startPython } from "./programs.ts";
import { commandFor, startScriptedPlane } from "./scripted-plane.ts";

const PATIENCE_MS = 60_000;
const TOKEN = "tp_token-canary-71f0";
const CANARY = 'canary/5f1c+9e"2b=77\u00e4';
/** Parts of every form, so that half of a secret is found as well. */
const TRACES = [
  "token-canary",
  "canary/5f1c",
  encodeURIComponent(CANARY).slice(0, 13),
  Buffer.from(CANARY).toString("hex").slice(0, 24),
  ...[0, 1, 2].map((skip) =>
    Buffer.from(`${"u".repeat(skip)}${CANARY}`)
      .toString("base64")
      .slice(4, 20),
  ),
];

test("[SEC-7-P1] its token and its tools' secrets are in no result, error, part, definition or log line", async () => {
  requirePython();
  const marks = mkdtempSync(join(tmpdir(), "toolplane-marks-"));
  onTestFinished(() => rmSync(marks, { recursive: true, force: true }));
  await using plane = await startScriptedPlane();
  await using service = await startPython("tests/examples/services/odd_tools.py", {
    url: plane.url,
    token: TOKEN,
    env: { MARKS: marks, CANARY, DRAIN: "0.2" },
  });
  const how = ["return", "raise", "say no"];
  for (const [index, way] of how.entries())
    plane.offer(commandFor({ call: `leak-${index}`, tool: "leak", args: { how: way } }));
  const results = () => how.flatMap((_, index) => plane.requests(`/calls/leak-${index}/result`));
  await until("every result", () => results().length === how.length, PATIENCE_MS);
  const parts = how.flatMap((_, index) => plane.requests(`/calls/leak-${index}/parts`));
  expect(parts).toHaveLength(how.length);
  const said = [...results(), ...parts, ...plane.requests("/tools")].map(({ body }) => body).concat(service.err());
  expect(TRACES.filter((trace) => said.some((text) => text.includes(trace)))).toEqual([]);
  expect(said.join("")).toContain("[redacted TOOLPLANE_TOKEN] [redacted CANARY]");
  // The log has the traceback of what was raised, without the secrets.
  expect(service.err()).toContain("RuntimeError: [redacted TOOLPLANE_TOKEN]");
});
