// Round trips to a child process over lines of JSON: `npm run bench:hosts`.
// All pairs in one run, rounds interleaved, so a busy neighbour hits them alike. A cell shows each pair's median round, and
// how many times as long as the bare echo a round trip takes: the median of the rounds' own ratios.

import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { applyLoad, type Measured } from "./load.ts";
import { measureMemory } from "./memory.ts";
import type { Pair } from "./pair.ts";
import { pairKinds } from "./pair-kinds.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    ms: { type: "string", default: "700" },
    cells: { type: "string", default: "" },
    "no-memory": { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const ms = Number(values.ms);

interface Cell {
  readonly inFlight: number;
  readonly bytes: number;
  readonly label: string;
}

const WARM_UP_MS = 2_000;

/** What a request's line has around the text. */
const LINE_AROUND = 165;
const cells: readonly Cell[] = [
  ...[200, 10_000].flatMap((bytes) =>
    [1, 16, 256].map((inFlight) => ({ inFlight, bytes, label: `${bytes === 200 ? "200 B" : "10 kB"} x ${inFlight}` })),
  ),
  ...[1, 16].map((inFlight) => ({ inFlight, bytes: 1_000_000, label: `1 MB x ${inFlight}` })),
].filter(({ label }) => label.includes(values.cells));

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const show = (cell: Cell, name: string, measured: readonly Measured[], bare: readonly Measured[]): void => {
  const perSecond = median(measured.map((round) => round.perSecond));
  const slower = median(measured.map((round, index) => (bare[index]?.perSecond ?? 0) / round.perSecond));
  const cpu = (round: Measured): number => round.parentCpu + round.childCpu;
  const costs = median(measured.map(cpu)) / median(bare.map(cpu));
  const columns = [
    cell.label.padEnd(12),
    name.padEnd(10),
    perSecond.toFixed(0).padStart(9),
    median(measured.map(({ p50 }) => p50))
      .toFixed(3)
      .padStart(9),
    median(measured.map(({ p99 }) => p99))
      .toFixed(3)
      .padStart(9),
    slower.toFixed(2).padStart(9),
    median(measured.map(({ parentCpu }) => parentCpu))
      .toFixed(1)
      .padStart(10),
    median(measured.map(({ childCpu }) => childCpu))
      .toFixed(1)
      .padStart(9),
    costs.toFixed(2).padStart(9),
  ];
  console.log(`| ${columns.join(" | ")} |`);
};

const runCells = async (pairs: readonly Pair[]): Promise<void> => {
  console.log(
    "| message      | pair       | trips / s |    p50 ms |    p99 ms | x of bare | parent us  | child us  | cpu ratio |",
  );
  console.log(`|${["-".repeat(14), "-".repeat(12), ...Array<string>(7).fill("-".repeat(11))].join("|")}|`);
  // The first cell would otherwise pay for compiling: what takes more code would look slower than it is.
  for (const pair of pairs) await applyLoad(pair, { inFlight: 16, text: "x", ms: WARM_UP_MS });
  for (const cell of cells) {
    const load = { inFlight: cell.inFlight, text: "x".repeat(cell.bytes - LINE_AROUND), ms };
    const measured = pairs.map(() => [] as Measured[]);
    for (const pair of pairs) await applyLoad(pair, { ...load, ms: ms / 2 });
    for (let round = 0; round < rounds; round++) {
      // The second of a pair finds a warmer machine, so the order changes from round to round.
      for (let turn = 0; turn < pairs.length; turn++) {
        const index = (round + turn) % pairs.length;
        measured[index]?.push(await applyLoad(pairs[index] as Pair, load));
      }
    }
    for (const [index, pair] of pairs.entries()) show(cell, pair.name, measured[index] ?? [], measured[0] ?? []);
  }
};

const mb = (bytes: number): string => (bytes / 1e6).toFixed(0).padStart(7);

const runMemory = async (): Promise<void> => {
  console.log("\n| 1 MB x 256 | trips / s | parent MB | child MB |\n|------------|-----------|-----------|----------|");
  for (const { name } of pairKinds) {
    const { perSecond, parentBytes, childBytes } = await measureMemory(name, 256, 1_000_000, 4_000);
    console.log(
      `| ${name.padEnd(10)} | ${perSecond.toFixed(0).padStart(9)} |   ${mb(parentBytes)} |  ${mb(childBytes)} |`,
    );
  }
};

console.log(
  `node ${process.version}, ${cpus().length} CPUs, load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(" ")}\n`,
);
const pairs = await Promise.all(pairKinds.map((kind) => kind.open()));
try {
  await runCells(pairs);
} finally {
  for (const pair of pairs) await pair[Symbol.asyncDispose]();
}
if (!values["no-memory"]) await runMemory();
