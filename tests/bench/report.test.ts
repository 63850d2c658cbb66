// What the bench of the doors makes of its windows.

import { NOTHING_FOUND } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { parseMachineTimes } from "../../bench/doors/machine.ts";
import { parseOptions } from "../../bench/doors/options.ts";
import { renderDocument } from "../../bench/doors/report/document.ts";
import { renderPicture } from "../../bench/doors/report/picture.ts";
import { figuresAt, planChanges, planRatios } from "../../bench/doors/report/summary.ts";
import { checkRows, levelRows } from "../../bench/doors/report/tables.ts";
import type { BenchRun, Measured } from "../../bench/doors/run-bench.ts";
import type { Window } from "../../bench/doors/window.ts";

const windowOf = (perSecond: number, rest: Partial<Window> = {}): Window => ({
  inFlight: 16,
  calls: 100,
  perSecond,
  p50Ms: 1000 / perSecond,
  p99Ms: 3000 / perSecond,
  cpu: { caller: 0.1, server: 0.2, worker: 0.3, store: 0.4 },
  perCall: { statements: 4, commits: 3, syncs: 2, bytes: 2048 },
  stolen: 0,
  others: 0,
  repeated: 0,
  ...rest,
});

type Who = Partial<Measured["contestant"]> & { readonly store?: string; readonly windows: readonly Window[] };

const measured = ({ store = "PostgreSQL 18", windows, ...contestant }: Who): Measured => ({
  contestant: { key: "http", name: "ours", kind: "ours", shape: "apart", settings: "as it is", ...contestant },
  store,
  roles: ["store", "worker", "caller"],
  windows,
  calls: 300,
  stored: 300,
  findings: contestant.kind === "peer" ? [] : [NOTHING_FOUND],
});

const runOf = (...list: readonly Who[]): BenchRun => ({
  date: "2026-11-16T00:00:00.000Z",
  machine: { cpus: 2, model: "a CPU", memoryGb: 8, node: "v24", system: "linux x64", disk: "ext4", load: 0.5 },
  options: { levels: [16], rounds: 3, seconds: 5 },
  measured: list.map(measured),
  missing: [{ name: "BullMQ", reason: "redis-server is not on PATH" }],
});

const OURS = { windows: [windowOf(300), windowOf(100), windowOf(200, { repeated: 1 })] };
const PEER = { kind: "peer", key: "peer", name: "a peer", windows: [windowOf(100)] } as const;
const UNSAFE = { ...PEER, name: "unsafe", store: "Redis 7", mayLose: "a second", windows: [windowOf(400)] } as const;
const SAFE_REDIS = { ...PEER, name: "redis", store: "Redis 7", windows: [windowOf(160)] } as const;

describe("figures", () => {
  test("are medians of rounds, with the spread and the windows that were thrown away", () => {
    const figures = figuresAt(measured(OURS), 16);
    expect(figures).toMatchObject({ perSecond: 200, spread: [100, 300], p50Ms: 5, repeated: 1 });
    expect(figures?.cpuTotal).toBeCloseTo(1);
    expect(figuresAt(measured(OURS), 64)).toBeUndefined();
  });

  test("what a store does not count is left out, not taken for nothing", () => {
    const redis = { ...PEER, windows: [windowOf(10, { perCall: { statements: 40 } })] };
    expect(figuresAt(measured(redis), 16)?.perCall.commits).toBeUndefined();
    const [, row] = levelRows(runOf(redis), 16);
    expect(row?.filter((cell) => cell === "-").length).toBe(4);
  });
});

test("ratios are against the best peer of the same kind, and against those that lose nothing", () => {
  const ratios = planRatios(runOf(OURS, PEER, UNSAFE, SAFE_REDIS));
  expect(ratios.map(({ perSecond, rivals, p50 }) => ({ perSecond, rivals, p50 }))).toEqual([
    { perSecond: [2], rivals: ["a peer"], p50: [0.5] },
    { perSecond: [1.25], rivals: ["redis"], p50: [0.8] },
  ]);
});

test("a library is compared with libraries only", () => {
  const library = { ...OURS, shape: "library" } as const;
  expect(planRatios(runOf(library, PEER))).toEqual([]);
  const [ratio] = planRatios(runOf(library, { ...PEER, shape: "library" }));
  expect(ratio).toMatchObject({ perSecond: [2], against: "peers in one process" });
});

test("a commit is compared round by round, with the same way only", () => {
  const then = { kind: "baseline", key: "http@abc", name: "then", windows: [windowOf(150), windowOf(100)] } as const;
  const other = { ...then, key: "nats@abc", name: "another way" };
  const now = { windows: [windowOf(300), windowOf(90), windowOf(500)] };
  const [change, ...rest] = planChanges(runOf(now, then, other, PEER));
  expect(rest).toEqual([]);
  expect(change).toMatchObject({ name: "then" });
  expect(change?.perSecond[0]).toBeCloseTo((2 + 0.9) / 2);
  expect(change?.cpu).toEqual([1]);
  expect(renderDocument(runOf(now, then), { command: "x", picture: "y" })).toContain(
    "## This tree over earlier commits",
  );
});

test("the checker's word is in the report, also when it is a bad one", () => {
  const bad = { ...measured(OURS), findings: [{ ...NOTHING_FOUND, lost: ["a call"] }] };
  const [, row] = checkRows({ ...runOf(), measured: [bad] });
  expect(row?.slice(1)).toEqual(["300", "300", "1", "0", "0", "NOT SOUND"]);
  const options = { command: "npm run bench", picture: "../bench.svg" };
  expect(renderDocument({ ...runOf(), measured: [bad] }, options)).toContain("ours: 1 lost, the first: a call");
  expect(renderDocument(runOf(OURS), options)).toContain("The checker found nothing.");
});

test("the document names what is missing and what may be lost; the picture has a bar for everybody but turns", () => {
  const run = runOf(OURS, UNSAFE, { ...OURS, name: "a <turn>", shape: "turn" });
  const document = renderDocument(run, { command: "npm run bench", picture: "../bench.svg" });
  expect(document).toContain("- BullMQ: redis-server is not on PATH");
  expect(document).toContain("unsafe *");
  const picture = renderPicture(run);
  expect(picture.match(/<rect x=/g)).toHaveLength(2);
  expect(picture).not.toContain("<turn>");
});

test("steal and busy time are read from the first line of /proc/stat", () => {
  const text = "cpu  100 10 40 800 30 5 15 50 7 7\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
  expect(parseMachineTimes(text)).toEqual({ totalMs: 10_500, busyMs: 1_700, stolenMs: 500 });
});

describe("options", () => {
  test("a whole run is written to docs, a look is not", () => {
    expect(parseOptions([])).toMatchObject({ levels: [1, 16, 64, 256], rounds: 3, seconds: 5, out: "docs" });
    expect(parseOptions([]).baselines).toEqual([]);
    expect(parseOptions(["--baseline", "a,b"])).toMatchObject({ baselines: ["a", "b"], out: "docs" });
    expect(parseOptions(["--seconds", "1"]).out).toBeUndefined();
    expect(parseOptions(["--only", "http,nats", "--out", "x"])).toMatchObject({ only: ["http", "nats"], out: "x" });
  });

  test("a number that is none is refused", () => {
    expect(() => parseOptions(["--levels", "1,many"])).toThrow("--levels takes a number above 0, not many");
  });
});
