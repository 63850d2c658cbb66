// Windows to figures: the median of the rounds for every measure, and the ratios between contestants and between commits.

import { median } from "../../engine/report.ts";
import { ROLES, type Role, type StoreCounts } from "../contestant.ts";
import type { BenchRun, Measured } from "../run-bench.ts";
import type { Window } from "../window.ts";

export interface Figures {
  readonly inFlight: number;
  readonly perSecond: number;
  /** The slowest and the fastest round. */
  readonly spread: readonly [number, number];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpu: Readonly<Record<Role, number>>;
  readonly cpuTotal: number;
  readonly perCall: StoreCounts;
  readonly stolen: number;
  readonly others: number;
  readonly repeated: number;
}

const medianCount = (windows: readonly Window[], name: keyof StoreCounts): number | undefined => {
  const values = windows.flatMap(({ perCall }) => perCall[name] ?? []);
  return values.length === 0 ? undefined : median(values);
};

export const figuresAt = ({ windows }: Measured, inFlight: number): Figures | undefined => {
  const mine = windows.filter((window) => window.inFlight === inFlight);
  if (mine.length === 0) return undefined;
  const of = (pick: (window: Window) => number): number => median(mine.map(pick));
  const rates = mine.map(({ perSecond }) => perSecond);
  const cpuOf = (role: Role): number => of(({ cpu }) => cpu[role]);
  return {
    inFlight,
    perSecond: median(rates),
    spread: [Math.min(...rates), Math.max(...rates)],
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    cpu: { caller: cpuOf("caller"), server: cpuOf("server"), worker: cpuOf("worker"), store: cpuOf("store") },
    cpuTotal: of(({ cpu }) => ROLES.reduce((sum, role) => sum + cpu[role], 0)),
    perCall: {
      statements: medianCount(mine, "statements"),
      commits: medianCount(mine, "commits"),
      syncs: medianCount(mine, "syncs"),
      bytes: medianCount(mine, "bytes"),
    },
    stolen: of(({ stolen }) => stolen),
    others: of(({ others }) => others),
    repeated: mine.reduce((sum, { repeated }) => sum + repeated, 0),
  };
};

export interface Ratio {
  readonly ours: string;
  readonly against: string;
  /** The best of them, by level. */
  readonly rivals: readonly (string | undefined)[];
  readonly perSecond: readonly (number | undefined)[];
  readonly p50: readonly (number | undefined)[];
}

const isSafe = ({ contestant }: Measured): boolean => contestant.mayLose === undefined;
const onPostgres = ({ store }: Measured): boolean => store.startsWith("PostgreSQL");

const RIVALRIES: readonly { readonly against: string; readonly of: (peer: Measured, ours: Measured) => boolean }[] = [
  {
    against: "peers on PostgreSQL, work in another process",
    of: (peer, { contestant }) => contestant.shape === "apart" && peer.contestant.shape === "apart" && onPostgres(peer),
  },
  {
    against: "peers that lose nothing, work in another process",
    of: (peer, { contestant }) => contestant.shape === "apart" && peer.contestant.shape === "apart" && isSafe(peer),
  },
  {
    against: "peers in one process",
    of: (peer, { contestant }) => contestant.shape === "library" && peer.contestant.shape === "library",
  },
];

/** Ours over the fastest of the others at each level; times of the p50 over the shortest. */
export const planRatios = ({ measured, options: { levels } }: BenchRun): readonly Ratio[] =>
  measured
    .filter(({ contestant }) => contestant.kind !== "peer")
    .flatMap((ours) =>
      RIVALRIES.flatMap(({ against, of }) => {
        const peers = measured.filter((peer) => peer.contestant.kind === "peer" && of(peer, ours));
        if (peers.length === 0) return [];
        const at = levels.map((level) => {
          const mine = figuresAt(ours, level);
          const theirs = peers.flatMap((peer) => {
            const figures = figuresAt(peer, level);
            return figures === undefined ? [] : [{ name: peer.contestant.name, figures }];
          });
          const best = theirs.reduce<(typeof theirs)[number] | undefined>(
            (top, one) => (top === undefined || one.figures.perSecond > top.figures.perSecond ? one : top),
            undefined,
          );
          if (mine === undefined || best === undefined) return { rival: undefined, rate: undefined, p50: undefined };
          const shortest = Math.min(...theirs.map(({ figures }) => figures.p50Ms));
          return {
            rival: best.name,
            rate: mine.perSecond / best.figures.perSecond,
            p50: mine.p50Ms / shortest,
          };
        });
        return [
          {
            ours: ours.contestant.name,
            against,
            rivals: at.map(({ rival }) => rival),
            perSecond: at.map(({ rate }) => rate),
            p50: at.map(({ p50 }) => p50),
          },
        ];
      }),
    );

export interface Change {
  readonly name: string;
  /** By level; the median of the rounds' own ratios, because the speed of the machine changes between rounds. */
  readonly perSecond: readonly (number | undefined)[];
  readonly cpu: readonly (number | undefined)[];
}

const cpuOf = ({ cpu }: Window): number => ROLES.reduce((sum, role) => sum + cpu[role], 0);

/** This tree over each baseline, way by way. */
export const planChanges = ({ measured, options: { levels } }: BenchRun): readonly Change[] =>
  measured.flatMap((then) => {
    const [way] = then.contestant.key.split("@");
    const now = measured.find(({ contestant }) => contestant.key === way);
    if (then.contestant.kind !== "baseline" || now === undefined) return [];
    const overRounds = (level: number, pick: (window: Window) => number): number | undefined => {
      const [ours, theirs] = [now, then].map(({ windows }) => windows.filter(({ inFlight }) => inFlight === level));
      const ratios = (ours ?? []).flatMap((window, round) => {
        const other = theirs?.[round];
        return other === undefined ? [] : [pick(window) / pick(other)];
      });
      return ratios.length === 0 ? undefined : median(ratios);
    };
    return [
      {
        name: then.contestant.name,
        perSecond: levels.map((level) => overRounds(level, ({ perSecond }) => perSecond)),
        cpu: levels.map((level) => overRounds(level, cpuOf)),
      },
    ];
  });
