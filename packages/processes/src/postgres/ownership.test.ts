import { linkSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handOver, makePassage } from "./ownership.ts";

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

test("what belonged to the previous user changes hands; a link to another's file, and that file, do not", () => {
  const place = mkdtempSync(join(tmpdir(), "toolplane-owner-"));
  const of = (name: string): string => join(place, name);
  const to = isRoot ? { uid: 60_742, gid: 60_742 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  writeFileSync(of("roots"), "");
  mkdirSync(of("cluster/base"), { recursive: true });
  writeFileSync(of("cluster/base/1"), "");
  if (isRoot) handOver(of("cluster"), { uid: 0 }, { uid: NOBODY, gid: NOBODY });
  linkSync(of("roots"), of("cluster/hard"));
  symlinkSync(of("roots"), of("cluster/soft"));
  handOver(of("cluster"), { uid: isRoot ? NOBODY : to.uid }, to);
  for (const name of ["cluster", "cluster/base", "cluster/base/1"]) expect(lstatSync(of(name)).uid).toBe(to.uid);
  expect(lstatSync(of("roots")).uid).toBe(process.getuid?.());
  expect(lstatSync(of("cluster/soft")).uid).toBe(process.getuid?.());
  makePassage(of("cluster"), isRoot ? to : undefined);
  const { mode, uid, gid } = lstatSync(of("cluster"));
  expect([mode & 0o777, uid]).toEqual([isRoot ? 0o710 : 0o700, process.getuid?.()]);
  if (isRoot) expect(gid).toBe(to.gid);
  rmSync(place, { recursive: true });
});
