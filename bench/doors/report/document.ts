// The report as a document: what was measured, on what, with which settings, and what came out.

import type { BenchRun } from "../run-bench.ts";
import { changeRows, checkRows, levelRows, overviewRows, type Rows, ratioRows, settingRows } from "./tables.ts";

const table = (rows: Rows): string => {
  const [header = [], ...body] = rows;
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...body.map(line)].join("\n");
};

const LEGEND = [
  "- *calls/s*: the median of the rounds; *(rounds)*: the lowest and the highest round. *p50 ms*, *p99 ms*: from the request to the result, seen by the caller.",
  "- *cpu ms*: CPU time of all processes, per call. *caller*, *server*, *worker*, *store*: the part of it that each kind of process used; `-` where a contestant has no such process.",
  "- *statements*, *commits*, *syncs*, *log kB*: per call, as the store counted them. *syncs* are writes of the log to the disk. For Redis *statements* are commands, also those inside scripts.",
  "- *others*: the share of the machine that other processes used during the windows. *stolen*: the share that the hypervisor took. *repeated*: windows measured again because *stolen* was above 5 %.",
].join("\n");

const describeMachine = ({ machine, options, measured }: BenchRun): string => {
  const windows = measured.flatMap((one) => one.windows);
  const others = windows.reduce((sum, window) => sum + window.others, 0) / Math.max(1, windows.length);
  const repeated = windows.reduce((sum, window) => sum + window.repeated, 0);
  return [
    `${machine.cpus} CPUs (${machine.model}), ${machine.memoryGb} GB, ${machine.system}, Node ${machine.node}, stores on ${machine.disk}; ` +
      `load average at the start ${machine.load.toFixed(1)}.`,
    `${options.rounds} interleaved rounds, windows of ${options.seconds} s, medians of rounds.`,
    `Other processes used ${(others * 100).toFixed(0)} % of the machine on average; ` +
      `windows repeated because the host took more than 5 % of the CPU: ${repeated}.`,
  ].join(" ");
};

/** The first of each kind, of every round in which the checker was not content. */
const listFindings = ({ measured }: BenchRun): string =>
  measured
    .flatMap(({ contestant, findings }) =>
      findings.flatMap((one) =>
        (Object.entries(one) as [string, readonly string[]][])
          .filter(([, list]) => list.length > 0)
          .map(([fault, list]) => `- ${contestant.name}: ${list.length} ${fault}, the first: ${list[0]}`),
      ),
    )
    .join("\n");

const CHANGES =
  "Calls per second, and the processor time of a call in all processes: the median of the ratios within each round.";

export interface DocumentOptions {
  /** As it was typed. */
  readonly command: string;
  /** Where the picture is, seen from the document. */
  readonly picture: string;
}

export const renderDocument = (run: BenchRun, { command, picture }: DocumentOptions): string => {
  const { date, options, missing } = run;
  const sections = [
    "# The doors, measured beside their neighbours",
    `Made by \`${command}\` on ${date.slice(0, 10)}. Do not edit: the next run writes it anew.`,
    "The same job for all: make a tool call durable, run an echo in another process, store its result durably, give it to the " +
      "caller. In one process where a product is used as a library. Every contestant has a store of its own on the same disk, " +
      "one caller process and one worker process; a server between them is a third. `*`: a power cut may take what was acknowledged.",
    describeMachine(run),
    "Compare within one run. CPU and counts per call move little with the load of the machine, calls per second a lot.",
    `![calls per second](${picture})`,
    "## Calls per second",
    table(overviewRows(run)),
    "## Ours over the best peer",
    table(ratioRows(run)),
    ...(changeRows(run).length > 1 ? ["## This tree over earlier commits", CHANGES, table(changeRows(run))] : []),
    "## Each level",
    "What the columns say:",
    LEGEND,
    ...options.levels.map((level) => table(levelRows(run, level))),
    "## What was in the stores afterwards",
    "Ours: the checker of the crash suites over the databases of every round, beside what callers and services wrote down. Peers: " +
      "results counted in the store. Calls of warm-ups are in both.",
    table(checkRows(run)),
    listFindings(run) || "The checker found nothing.",
    "## Settings",
    table(settingRows(run)),
    "## Not measured",
    missing.length === 0 ? "Nothing is missing." : missing.map(({ name, reason }) => `- ${name}: ${reason}`).join("\n"),
  ];
  return `${sections.join("\n\n")}\n`;
};
