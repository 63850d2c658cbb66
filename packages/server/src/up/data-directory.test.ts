import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDataDirectory } from "./data-directory.ts";

let place: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "toolplane-data-"));
});
afterAll(() => {
  rmSync(place, { recursive: true });
});

test("a data directory is made, and closed to others", () => {
  const { path } = openDataDirectory(join(place, "a", "b"));
  expect(statSync(path).mode & 0o066).toBe(0);
});

test("[UP-4-3] a data directory that cannot be one says why and what to do", () => {
  const file = join(place, "file");
  writeFileSync(file, "");
  const todo = "see that it can be made and written to, or start with another --data";
  const cases = [
    [file, "a file is in its place"],
    [join(file, "below"), "a file is in its place"],
    [join(place, "x".repeat(300)), "its name is too long"],
    // The system says ENOENT of a folder that is there.
    ...(process.platform === "linux" ? [["/proc/a/b", "the system allows no new folders there"] as const] : []),
  ] as const;
  for (const [path, why] of cases)
    expect
      .soft(() => openDataDirectory(path))
      .toThrow(
        expect.objectContaining({
          code: "storage_error",
          message: expect.stringContaining(`the data directory ${path} cannot be used: ${why} (`),
          detail: { todo },
        }),
      );
});
