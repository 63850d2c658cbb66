import { expect, test } from "vitest";
import { planOrphans, tryParseCommandLine } from "./cluster-processes.ts";
import { tryParsePostmasterFile } from "./postmaster-file.ts";

const READY = "6144\n/tmp/c\n1794715728\n5432\n/tmp/s\n\n  2146427         8\nready   \n";

test.each([
  ["a ready server", READY, { pid: 6144, port: 5432, socketDir: "/tmp/s", status: "ready" }],
  [
    "one that listens nowhere yet",
    "6144\n/tmp/c\n1794715728\n5432\n\n",
    { pid: 6144, port: 5432, socketDir: undefined, status: "starting" },
  ],
  ["single-user mode", "-77\n", { pid: 77, port: 0, socketDir: undefined, status: "starting" }],
  ["an empty file", "", undefined],
  ["no number", "hello\n", undefined],
  ["zero, which would mean our own group", "0\n", undefined],
])("postmaster.pid of %s", (_what, text, expected) => {
  expect(tryParsePostmasterFile(text)).toEqual(expected);
});

test.each([
  ["a backend", "  12   7 postgres: toolplane-ab: walwriter", { pid: 12, ppid: 7, child: true }],
  ["the server", "7 1 /opt/native/bin/postgres -D /data/cluster -c port=1", { pid: 7, ppid: 1, child: false }],
  ["a backend of another cluster", "12 7 postgres: toolplane-cd: walwriter", undefined],
  ["a server on another cluster", "7 1 /opt/postgres -D /data/cluster2", undefined],
  ["an editor", "9 1 vi /data/cluster", undefined],
])("a line of ps about %s", (_what, line, expected) => {
  expect(tryParseCommandLine(line, "/data/cluster", "toolplane-ab")).toEqual(expected);
});

test.each([
  ["nobody", [], []],
  [
    "a live server with children",
    [
      { pid: 7, ppid: 1, child: false },
      { pid: 8, ppid: 7, child: true },
    ],
    [],
  ],
  [
    "R2: children of a dead server beside a new one",
    [
      { pid: 7, ppid: 1, child: false },
      { pid: 8, ppid: 7, child: true },
      { pid: 9, ppid: 1, child: true },
    ],
    [9],
  ],
  ["a server without children", [{ pid: 7, ppid: 1, child: false }], []],
])("planOrphans: %s", (_what, processes, expected) => {
  expect(planOrphans(processes)).toEqual(expected);
});
