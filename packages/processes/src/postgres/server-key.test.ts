import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ensureKey, keyPath, makeVerifier, tryReadKey } from "./server-key.ts";

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "toolplane-key-"));
});
afterEach(() => {
  rmSync(place, { recursive: true });
});

describe("[SEC-DB-10] the key", () => {
  test("is made once, 0600, and alone in its folder; the same key gives the same passwords", () => {
    expect(tryReadKey(place)).toBeUndefined();
    const key = ensureKey(place);
    expect(statSync(keyPath(place)).mode & 0o777).toBe(0o600);
    expect(readdirSync(place)).toEqual(["database-key"]);
    expect([ensureKey(place).id, tryReadKey(place)?.id]).toEqual([key.id, key.id]);
    expect(tryReadKey(place)?.passwordOf("a")).toBe(key.passwordOf("a"));
    expect(key.passwordOf("b")).not.toBe(key.passwordOf("a"));
  });

  test("that others could read is closed, and one that a full disk cut short is made anew", () => {
    const key = ensureKey(place);
    chmodSync(keyPath(place), 0o644);
    expect(tryReadKey(place)?.id).toBe(key.id);
    expect(statSync(keyPath(place)).mode & 0o777).toBe(0o600);
    writeFileSync(keyPath(place), "0123");
    expect(tryReadKey(place)).toBeUndefined();
    expect(ensureKey(place).id).not.toBe(key.id);
  });

  test("that cannot be read stops the start and says what to do", () => {
    rmSync(keyPath(place), { force: true });
    // A folder in its place: root may read any file.
    rmSync(place, { recursive: true });
    writeFileSync(place, "");
    expect(() => tryReadKey(place)).toThrow("cannot be read");
  });
});

test("[SEC-DB-10] a verifier proves a password and does not hold it", () => {
  const [one, other] = [makeVerifier("hunter2"), makeVerifier("hunter2", 4096)];
  expect(one).toMatch(/^SCRAM-SHA-256\$1:[\w+/=]{24}\$[\w+/=]{44}:[\w+/=]{44}$/);
  expect(other).toMatch(/^SCRAM-SHA-256\$4096:/);
  expect(one).not.toContain("hunter2");
  expect(makeVerifier("hunter2")).not.toBe(one);
});
