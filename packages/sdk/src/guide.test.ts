// The guide may name only what there is, and say only what is so.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as sdk from "./index.ts";
import * as pieces from "./protocol.ts";
import { DEFAULT_MAX_RESULT_BYTES } from "./runner/build-outcome.ts";

const guide = readFileSync(new URL("../../../docs/guides/write-a-tool.md", import.meta.url), "utf8");
const callersGuide = readFileSync(new URL("../../../docs/guides/call-from-your-program.md", import.meta.url), "utf8");

const imported = [...guide.matchAll(/import \{ ([^}]+) \} from "@toolplane\/sdk"/g)].flatMap(([, names]) =>
  (names ?? "").split(",").map((name) => name.trim()),
);

test("every name the guide imports or mentions as a piece is exported", () => {
  expect(imported.length).toBeGreaterThan(3);
  for (const name of [...imported, "createRunner", "startToolService"]) expect.soft(sdk).toHaveProperty(name);
  for (const name of [
    "planCommand",
    "hydrate",
    "buildResult",
    "buildFailure",
    "reportResult",
    "createHttpGateway",
    "openNatsToolGateway",
  ]) {
    expect.soft(guide).toContain(name);
    expect.soft(pieces).toHaveProperty(name);
  }
});

test("the limit of a result is the one the guide says", () => {
  expect(guide).toContain(`${DEFAULT_MAX_RESULT_BYTES / 1024} KiB`);
  expect(callersGuide).toContain(`${DEFAULT_MAX_RESULT_BYTES.toLocaleString("en-US")} bytes`);
});
