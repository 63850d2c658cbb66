import { chownSync, lchownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkOwnFiles } from "./own-files.ts";

const uid = process.getuid?.() ?? 0;
let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "own-files-"));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

test("[SEC-DB-11] a directory of one's own is taken, whatever is in it", () => {
  checkOwnFiles(data, uid);
  mkdirSync(join(data, "postgres"));
  writeFileSync(join(data, "token"), "x");
  checkOwnFiles(data, uid);
  checkOwnFiles(join(data, "not-there"), uid);
});

test.each(["postgres", "token", "database-key", "location"])(
  "[SEC-DB-11] a link in the place of %s is refused",
  (name) => {
    symlinkSync(tmpdir(), join(data, name));
    expect(() => checkOwnFiles(data, uid)).toThrow(`${name} in it is a link`);
  },
);

test("[SEC-DB-11] a directory or a key that another user made is refused", () => {
  const other = uid + 1;
  // To somebody else, ours is another's.
  if (uid !== 0) expect(() => checkOwnFiles(data, other)).toThrow("it belongs to user");
  writeFileSync(join(data, "database-key"), "0".repeat(64));
  if (uid === 0) chownSync(join(data, "database-key"), 65_534, 65_534);
  expect(() => checkOwnFiles(data, uid === 0 ? 0 : other)).toThrow("belongs to user");
  if (uid !== 0) return;
  rmSync(join(data, "database-key"));
  chownSync(data, 65_534, 65_534);
  expect(() => checkOwnFiles(data, 0)).toThrow("it belongs to user 65534, not to user 0 who starts this");
});

test.runIf(uid === 0)("[SEC-DB-12] root does not follow a link that another user made to a data directory", () => {
  const link = `${data}-link`;
  symlinkSync(data, link);
  try {
    checkOwnFiles(link, 0);
    lchownSync(link, 65_534, 65_534);
    expect(() => checkOwnFiles(link, 0)).toThrow("it is a link of user 65534");
  } finally {
    rmSync(link);
  }
});
