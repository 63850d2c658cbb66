import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeOldCopies } from "./old-copies.ts";

const A = "0123456789abcdef";
const B = "fedcba9876543210";
const COPY = "programs-18.4-x64";
const never = new AbortController().signal;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "toolplane-moved-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const makeCopy = (...path: string[]): string => {
  const bin = join(root, ...path, "native", "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "postgres"), "");
  return join(root, ...path);
};

// Elsewhere nothing shows which programs run, and so nothing is removed.
const onLinux = process.platform === "linux";

test("[ARCH-5-14] a copy of the programs for one data directory goes, a database beside it stays", async () => {
  const copies = [makeCopy(A, COPY), makeCopy(B, COPY), makeCopy(B, "programs-17.2-x64")];
  const half = join(root, A, "removing-0123456789ab");
  mkdirSync(half);
  const cluster = join(root, B, "postgres", "cluster");
  mkdirSync(cluster, { recursive: true });
  expect(await removeOldCopies(root, never)).toBe(onLinux ? 4 : 0);
  expect([...copies, half].filter(existsSync)).toHaveLength(onLinux ? 0 : 4);
  expect(existsSync(cluster)).toBe(true);
  expect(existsSync(join(root, A))).toBe(!onLinux);
});

test("[ARCH-5-14] what is not certainly such a copy stays", async () => {
  const shared = makeCopy(COPY);
  const elsewhere = makeCopy("kept", COPY);
  const kept = [
    shared,
    elsewhere,
    makeCopy("0123456789ABCDEF", COPY),
    makeCopy(A, "programs"),
    makeCopy(A, "programs-18.4-x64.mine"),
    makeCopy(A, "other"),
  ];
  mkdirSync(join(root, A, "programs-18.5-x64"));
  symlinkSync(elsewhere, join(root, A, COPY));
  symlinkSync(join(root, "kept"), join(root, B));
  expect(await removeOldCopies(root, never)).toBe(0);
  expect([...kept, join(root, A, "programs-18.5-x64"), join(root, A, COPY)].filter(existsSync)).toHaveLength(8);
});

test("[ARCH-5-14] a copy that a process runs from stays until the process has ended", async () => {
  const used = makeCopy(A, COPY);
  const unused = makeCopy(B, COPY);
  const program = join(used, "native", "bin", "postgres");
  copyFileSync("/bin/sleep", program);
  const child = spawn(program, ["600"], { stdio: "ignore" });
  await once(child, "spawn");
  try {
    expect(await removeOldCopies(root, never)).toBe(onLinux ? 1 : 0);
    expect([existsSync(used), existsSync(unused)]).toEqual([true, !onLinux]);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  expect(await removeOldCopies(root, never)).toBe(onLinux ? 1 : 0);
  expect(existsSync(used)).toBe(!onLinux);
});

test("who is told to stop removes no further copy, and a root that is not there is nothing to do", async () => {
  const copy = makeCopy(A, COPY);
  expect(await removeOldCopies(root, AbortSignal.abort())).toBe(0);
  expect(existsSync(copy)).toBe(true);
  expect(await removeOldCopies(join(root, "nowhere"), never)).toBe(0);
});

test("two that start at the same moment do not trip over each other", async () => {
  for (let index = 0; index < 8; index += 1) makeCopy(`${index}`.padStart(16, "0"), COPY);
  const counts = await Promise.all([removeOldCopies(root, never), removeOldCopies(root, never)]);
  expect(counts.every((count) => count <= 8)).toBe(true);
  expect(existsSync(join(root, "0".padStart(16, "0")))).toBe(!onLinux);
});
