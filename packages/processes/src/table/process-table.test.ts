import { spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import { readProcessTable, tryParseProcStat, tryParsePsLine, tryReadProcess } from "./process-table.ts";

// Field 3 onward of proc(5); the 22nd is the start time.
const rest = (state: string, ppid: number): string =>
  `${state} ${ppid} 70 71 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 200`;

describe("tryParseProcStat", () => {
  test.each([
    ["a plain command", "(sleep)"],
    ["a command with spaces and parentheses", "(a) b) (c"],
    ["a command that looks like fields", "(x) S 1 1 1"],
  ])("%s", (_what, command) => {
    const name = command.endsWith(")") ? command : `${command})`;
    expect(tryParseProcStat(`42 ${name} ${rest("S", 7)}`)).toEqual({
      pid: 42,
      ppid: 7,
      pgid: 70,
      session: 71,
      started: "987654",
      zombie: false,
    });
  });

  test("a zombie is marked", () => {
    expect(tryParseProcStat(`42 (sleep) ${rest("Z", 7)}`)?.zombie).toBe(true);
  });

  test.each(["", "garbage", "42 (sleep) S 1 2"])("%j is not a process", (text) => {
    expect(tryParseProcStat(text)).toBeUndefined();
  });
});

describe("tryParsePsLine", () => {
  test("reads the columns and takes the rest as the start time", () => {
    expect(tryParsePsLine("  501   1   501 Ss   Sun Nov 15 04:00:00 2026")).toEqual({
      pid: 501,
      ppid: 1,
      pgid: 501,
      session: 0,
      started: "Sun Nov 15 04:00:00 2026",
      zombie: false,
    });
  });

  test("a zombie is marked", () => {
    expect(tryParsePsLine("501 1 501 Z Sun Nov 15 04:00:00 2026")?.zombie).toBe(true);
  });

  test.each(["", "PID PPID", "501 1 501 S", "x 1 501 S Sun"])("%j is not a process", (line) => {
    expect(tryParsePsLine(line)).toBeUndefined();
  });
});

test("the table has us and our child, each with a start time that stays the same", async () => {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const row = tryReadProcess(child.pid ?? 0);
  const table = readProcessTable();
  expect(row?.ppid).toBe(process.pid);
  expect(table.get(child.pid ?? 0)?.started).toBe(row?.started);
  expect(table.get(process.pid)?.started).toBe(tryReadProcess(process.pid)?.started);
  child.kill("SIGKILL");
  await gone;
  expect(tryReadProcess(child.pid ?? 0)?.started).not.toBe(row?.started);
});
