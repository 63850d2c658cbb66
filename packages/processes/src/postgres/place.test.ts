import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLocation, tryParseLocation } from "./place.ts";

test.each([
  ["both", '{"data":"/a","programs":"/b","reason":"r"}', { data: "/a", programs: "/b", reason: "r" }],
  ["programs only", '{"programs":"/b","reason":"r"}', { programs: "/b", reason: "r" }],
  ["unknown keys are left out", '{"data":"/a","reason":"r","x":1}', { data: "/a", reason: "r" }],
  ["no reason", '{"data":"/a"}', undefined],
  ["not an object", "[]", undefined],
  ["null", "null", undefined],
  ["not JSON", "/var/lib", undefined],
])("tryParseLocation: %s", (_what, text, expected) => {
  expect(tryParseLocation(text)).toEqual(expected);
});

test("[ARCH-5-4] a location file that cannot be understood stops the start instead of being ignored", () => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-place-"));
  expect(readLocation(directory)).toBeUndefined();
  writeFileSync(join(directory, "location"), "somewhere else");
  // Ignoring it would make a second, empty cluster.
  expect(() => readLocation(directory)).toThrow("cannot be understood");
  rmSync(directory, { recursive: true });
});
