// Compiled code that is kept between runs is read from a folder of ours alone: another user who made the usual folder first, or
// one with our name that others can write, changes nothing of what is run.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../../bin/toolplane.mjs", import.meta.url));
const OWN = `toolplane-code-${process.getuid?.() ?? 0}`;

let shared: string;
beforeEach(() => {
  shared = mkdtempSync(join(tmpdir(), "code-cache-"));
  chmodSync(shared, 0o1777);
});
afterEach(() => rmSync(shared, { recursive: true }));

const run = (): string => {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  return execFileSync(process.execPath, [PROGRAM, "--version"], { env: { ...env, TMPDIR: shared }, encoding: "utf8" });
};

test("[SEC-16-G3] the usual folder of Node is neither read nor written, and our own is closed to others", () => {
  mkdirSync(join(shared, "node-compile-cache"));
  expect(run()).toMatch(/\d+\.\d+\.\d+/);
  expect(readdirSync(join(shared, "node-compile-cache"))).toEqual([]);
  expect(statSync(join(shared, OWN)).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(shared, OWN))).not.toEqual([]);
});

test("[SEC-16-G3] a folder with our name that others can write is not used", () => {
  mkdirSync(join(shared, OWN));
  chmodSync(join(shared, OWN), 0o777);
  expect(run()).toMatch(/\d+\.\d+\.\d+/);
  expect(readdirSync(join(shared, OWN))).toEqual([]);
});
