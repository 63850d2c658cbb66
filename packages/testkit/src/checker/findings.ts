// What a check found, one sentence per fault, by the promise that was broken.

export interface Findings {
  /** Accepted or acknowledged, and not there. */
  readonly lost: readonly string[];
  /** There, or done, more often than once. */
  readonly doubled: readonly string[];
  /** Not settled. */
  readonly stuck: readonly string[];
  /** Rows that belong to nothing, or that no part will ever look at. */
  readonly orphaned: readonly string[];
  /** Cards, hashes and chains that are not what they say. */
  readonly broken: readonly string[];
  /** Messages that did not leave. */
  readonly unsent: readonly string[];
  /** Ends that a call of this kind cannot have. */
  readonly surprising: readonly string[];
}

export type Fault = keyof Findings;
export type Found = readonly (readonly [Fault, string])[];

export const NOTHING_FOUND: Findings = {
  lost: [],
  doubled: [],
  stuck: [],
  orphaned: [],
  broken: [],
  unsent: [],
  surprising: [],
};

export const collectFindings = (found: Found): Findings => {
  const of = (fault: Fault): readonly string[] => found.filter(([kind]) => kind === fault).map(([, text]) => text);
  return {
    lost: of("lost"),
    doubled: of("doubled"),
    stuck: of("stuck"),
    orphaned: of("orphaned"),
    broken: of("broken"),
    unsent: of("unsent"),
    surprising: of("surprising"),
  };
};

export const isSound = (findings: Findings): boolean => Object.values(findings).every((list) => list.length === 0);

/** Groups rows under a name. */
export const groupBy = <Row>(rows: readonly Row[], nameOf: (row: Row) => string): ReadonlyMap<string, readonly Row[]> =>
  Map.groupBy(rows, nameOf);
