// The tables of a report as rows of text; the terminal and the document print the same ones.

import { isSound } from "@toolplane/testkit";
import { ROLES } from "../contestant.ts";
import type { BenchRun, Measured } from "../run-bench.ts";
import { figuresAt, planChanges, planRatios } from "./summary.ts";

export type Rows = readonly (readonly string[])[];

const NONE = "-";

const digits = (value: number | undefined): string => {
  if (value === undefined || !Number.isFinite(value)) return NONE;
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

const percent = (value: number): string => `${(value * 100).toFixed(0)} %`;

const nameOf = ({ contestant: { name, mayLose } }: Measured): string => (mayLose === undefined ? name : `${name} *`);

/** Calls per second at every level, and the p50 at the lowest one. */
export const overviewRows = ({ measured, options: { levels } }: BenchRun): Rows => {
  const [lowest = 1] = levels;
  return [
    ["calls/s", ...levels.map((level) => `${level} in flight`), `p50 ms at ${lowest}`],
    ...measured.map((one) => [
      nameOf(one),
      ...levels.map((level) => digits(figuresAt(one, level)?.perSecond)),
      digits(figuresAt(one, lowest)?.p50Ms),
    ]),
  ];
};

export const levelRows = ({ measured }: BenchRun, level: number): Rows => [
  [
    `${level} in flight`,
    ...["calls/s", "(rounds)", "p50 ms", "p99 ms", "cpu ms"],
    ...ROLES,
    ...["statements", "commits", "syncs", "log kB", "others", "stolen", "repeated"],
  ],
  ...measured.flatMap((one) => {
    const figures = figuresAt(one, level);
    if (figures === undefined) return [];
    const { perSecond, spread, p50Ms, p99Ms, cpu, cpuTotal, perCall, stolen, others, repeated } = figures;
    return [
      [
        nameOf(one),
        digits(perSecond),
        spread.map((value) => value.toFixed(0)).join("-"),
        digits(p50Ms),
        digits(p99Ms),
        cpuTotal.toFixed(3),
        ...ROLES.map((role) => (one.roles.includes(role) ? cpu[role].toFixed(3) : NONE)),
        digits(perCall.statements),
        digits(perCall.commits),
        digits(perCall.syncs),
        digits(perCall.bytes === undefined ? undefined : perCall.bytes / 1024),
        percent(others),
        percent(stolen),
        String(repeated),
      ],
    ];
  }),
];

const times = (value: number | undefined): string => (value === undefined ? NONE : `${value.toFixed(2)}x`);

/** This tree over each baseline: calls per second, and the processor time of a call. */
export const changeRows = (run: BenchRun): Rows => {
  const { levels } = run.options;
  return [
    ["this tree over", ...levels.map((level) => `${level} in flight`), ...levels.map((level) => `cpu at ${level}`)],
    ...planChanges(run).map(({ name, perSecond, cpu }) => [name, ...perSecond.map(times), ...cpu.map(times)]),
  ];
};

export const ratioRows = (run: BenchRun): Rows => {
  const { levels } = run.options;
  return [
    ["ours", "against the best of", ...levels.map((level) => `${level} in flight`), `p50 at ${levels[0] ?? 1}`],
    ...planRatios(run).map(({ ours, against, perSecond, rivals, p50 }) => [
      ours,
      against,
      ...perSecond.map((value, index) => (value === undefined ? NONE : `${times(value)} ${rivals[index] ?? ""}`)),
      times(p50[0]),
    ]),
  ];
};

/** What was found in the stores after the run. */
export const checkRows = ({ measured }: BenchRun): Rows => [
  ["contestant", "calls answered", "results found in the store", "lost", "doubled", "stuck", "checker"],
  ...measured.map(({ contestant, calls, stored, findings }) => {
    const count = (fault: "lost" | "doubled" | "stuck"): string =>
      findings.length === 0 ? NONE : String(findings.reduce((sum, one) => sum + one[fault].length, 0));
    const verdict = findings.length === 0 ? NONE : findings.every(isSound) ? "sound" : "NOT SOUND";
    return [
      contestant.name,
      String(calls),
      stored === undefined ? NONE : String(stored),
      count("lost"),
      count("doubled"),
      count("stuck"),
      verdict,
    ];
  }),
];

export const settingRows = ({ measured }: BenchRun): Rows => [
  ["contestant", "processes", "store", "settings"],
  ...measured.map(({ contestant, roles, store }) => [
    contestant.name,
    ROLES.flatMap((role) => {
      const count = roles.filter((one) => one === role).length;
      return count === 0 ? [] : [count === 1 ? role : `${count} x ${role}`];
    }).join(", "),
    store,
    contestant.mayLose === undefined ? contestant.settings : `${contestant.settings}. * ${contestant.mayLose}`,
  ]),
];
