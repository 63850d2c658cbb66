import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { createKinFinder, isKinLine, MARK_NAME, parseUids } from "./kin.ts";
import { readProcessTable } from "./process-table.ts";

test.each([
  ["a status", "Name:\tsh\nUid:\t7\t8\t9\t10\nGid:\t1\t1\t1\t1\n", [7, 8, 9, 10]],
  ["none", "Name:\tsh\n", []],
  ["nothing", "", []],
])("the users of %s", (_what, status, expected) => {
  expect(parseUids(status)).toEqual(expected);
});

test.each([
  ["its mark among the variables", `  12 501 sleep 1 A=b ${MARK_NAME}=abc`, true],
  ["its user", "12 60600 sleep 1", true],
  ["another mark and user", `12 501 sleep 1 ${MARK_NAME}=abd`, false],
  ["a command that looks like the user", "12 501 60600", false],
  ["nothing", "", false],
])("[SEC-9-U4] a line of ps with %s", (_what, line, expected) => {
  expect(isKinLine(line, { started: undefined, mark: "abc", soleUid: 60_600 })).toBe(expected);
});

test("[SEC-9-U4] a process is found by the mark it was started with, and not by another or when it is older", async () => {
  const child = spawn("sleep", ["1000"], { stdio: "ignore", env: { PATH: process.env.PATH, [MARK_NAME]: "here" } });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const found = (mark: string | undefined, started?: string): readonly number[] =>
    createKinFinder({ started, mark })(readProcessTable()).map(({ pid }) => pid);
  // It carries our own variables until it has become the program.
  await expect.poll(() => found("here"), { interval: 5 }).toEqual([child.pid]);
  expect(found("there")).toEqual([]);
  expect(found(undefined)).toEqual([]);
  if (process.platform === "linux") expect(found("here", String(Number.MAX_SAFE_INTEGER))).toEqual([]);
  child.kill("SIGKILL");
  await gone;
});
