import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cacheDirectory } from "./cache-directory.ts";

let root: string;
const expected = () => join(root, `toolplane-cache-${process.getuid?.()}`);

beforeEach(() => {
  root = mkdtempSync("/tmp/toolplane-tmpdir-");
  chmodSync(root, 0o755);
  vi.stubEnv("TMPDIR", root);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

test("it is made once and used again", () => {
  expect(cacheDirectory(undefined)).toBe(expected());
  expect(cacheDirectory(undefined)).toBe(expected());
  expect(statSync(expected()).mode & 0o777).toBe(0o755);
});

test("a directory others can write to is not used: programs from it would be run", () => {
  mkdirSync(expected());
  chmodSync(expected(), 0o777);
  const used = cacheDirectory(undefined);
  expect(used).not.toBe(expected());
  expect(used.startsWith(root)).toBe(true);
});
