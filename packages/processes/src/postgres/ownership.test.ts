import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processGuard } from "../guard/guard.ts";
import { changeFolder, handOver, makePassage } from "./ownership.ts";
import { makeSocketDirectory } from "./socket-directory.ts";

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

test("what belonged to the previous user changes hands; a link to another's file, and that file, do not", () => {
  const place = mkdtempSync(join(tmpdir(), "toolplane-owner-"));
  const of = (name: string): string => join(place, name);
  const to = isRoot ? { uid: 60_742, gid: 60_742 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  writeFileSync(of("roots"), "");
  mkdirSync(of("cluster/base"), { recursive: true });
  writeFileSync(of("cluster/base/1"), "");
  if (isRoot) handOver(of("cluster"), { from: { uid: 0 }, to: { uid: NOBODY, gid: NOBODY } });
  linkSync(of("roots"), of("cluster/hard"));
  symlinkSync(of("roots"), of("cluster/soft"));
  handOver(of("cluster"), { from: { uid: isRoot ? NOBODY : to.uid }, to });
  for (const name of ["cluster", "cluster/base", "cluster/base/1"]) expect(lstatSync(of(name)).uid).toBe(to.uid);
  expect(lstatSync(of("roots")).uid).toBe(process.getuid?.());
  expect(lstatSync(of("cluster/soft")).uid).toBe(process.getuid?.());
  makePassage(of("cluster"), isRoot ? to : undefined);
  const { mode, uid, gid } = lstatSync(of("cluster"));
  expect([mode & 0o777, uid]).toEqual([isRoot ? 0o710 : 0o700, process.getuid?.()]);
  if (isRoot) expect(gid).toBe(to.gid);
  rmSync(place, { recursive: true });
});

const isHeld = isRoot && process.platform === "linux";
const DATABASE = { uid: 60_742, gid: 60_742 };

test.runIf(isHeld)("[SEC-DB-11] an entry that is swapped after it was looked at changes nothing elsewhere", () => {
  const place = mkdtempSync(join(tmpdir(), "toolplane-owner-"));
  const of = (name: string): string => join(place, name);
  mkdirSync(of("cluster/base"), { recursive: true });
  writeFileSync(of("cluster/base/shadow"), "");
  writeFileSync(of("cluster/file"), "");
  for (const name of ["cluster", "cluster/base", "cluster/base/shadow", "cluster/file"])
    chownSync(of(name), NOBODY, NOBODY);
  mkdirSync(of("etc"));
  writeFileSync(of("etc/shadow"), "");
  const looked = (path: string): void => {
    // A folder becomes a link to another one, with a file of the same name in it; a file becomes another's by a hard link.
    if (path === of("cluster/base/shadow")) {
      renameSync(of("cluster/base"), of("cluster/moved"));
      symlinkSync(of("etc"), of("cluster/base"));
    }
    if (path === of("cluster/file")) {
      rmSync(of("cluster/file"));
      linkSync(of("etc/shadow"), of("cluster/file"));
    }
  };
  handOver(of("cluster"), { from: { uid: NOBODY }, to: DATABASE, looked });
  expect([lstatSync(of("etc/shadow")).uid, lstatSync(of("etc")).uid]).toEqual([0, 0]);
  expect(lstatSync(of("cluster/moved/shadow")).uid).toBe(DATABASE.uid);
  rmSync(place, { recursive: true });
});

test.runIf(isRoot)("[SEC-DB-11] a file with a second name is not given away", () => {
  const place = mkdtempSync(join(tmpdir(), "toolplane-owner-"));
  const of = (name: string): string => join(place, name);
  mkdirSync(of("cluster"));
  writeFileSync(of("mail"), "of another program of that user");
  chownSync(of("mail"), NOBODY, NOBODY);
  linkSync(of("mail"), of("cluster/1"));
  expect(() => handOver(of("cluster"), { from: { uid: NOBODY }, to: DATABASE })).toThrow(
    /cluster\/1 has a second name/,
  );
  expect(lstatSync(of("mail")).uid).toBe(NOBODY);
  rmSync(place, { recursive: true });
});

test("[SEC-DB-11] a link in the place of a folder is refused, and what it leads to keeps its mode and owner", async () => {
  const place = mkdtempSync(join(tmpdir(), "toolplane-owner-"));
  const of = (name: string): string => join(place, name);
  mkdirSync(of("etc"), { mode: 0o755 });
  symlinkSync(of("etc"), of("socket"));
  const runAs = isRoot ? DATABASE : undefined;
  expect(() => changeFolder(of("socket"), 0o700, runAs)).toThrow(/must be a folder/);
  expect(() => makePassage(of("socket"), runAs)).toThrow(/must be a folder/);
  await expect(makeSocketDirectory(place, runAs, processGuard())).rejects.toThrow(/must be a folder/);
  const { mode, uid } = lstatSync(of("etc"));
  expect([mode & 0o777, uid]).toEqual([0o755, process.getuid?.()]);
  rmSync(place, { recursive: true });
});
