// Which check of `conform` and `host check` finds which clause, and which wrong service or host of the corpus it is shown with.
// The clauses are those of utp.md about identity, result cards, malformed commands and channels: what a service or a host can
// break from its own side.

export interface Checked {
  readonly id: string;
  readonly title: string;
  readonly section: string;
  readonly utp?: string | undefined;
}

/** A wrong service or host, by the check that it fails. */
export interface Wrong {
  readonly clause: string;
  readonly name: string;
}

export interface Corpus {
  readonly conform: readonly Checked[];
  readonly hostCheck: readonly Checked[];
  readonly overHttp: readonly Wrong[];
  readonly overNats: readonly Wrong[];
  readonly hosts: readonly Wrong[];
}

export interface CheckRow {
  readonly point: number;
  readonly about: string;
  readonly check: Checked;
  /** Names of what fails this check; undefined where the check does not exist. */
  readonly http: readonly string[] | undefined;
  readonly nats: readonly string[] | undefined;
  readonly host: readonly string[] | undefined;
}

const POINTS: readonly { readonly point: number; readonly about: string; readonly checks: readonly string[] }[] = [
  {
    point: 1,
    about: "identity",
    checks: [
      ...["UTP-C08", "UTP-C09", "UTP-C22", "UTP-C23", "UTP-C42", "UTP-C46", "UTP-C47"],
      ...["HOST-C30", "HOST-C33"],
    ],
  },
  {
    point: 2,
    about: "result cards",
    checks: [...["UTP-C30", "UTP-C31", "UTP-C32", "UTP-C38", "UTP-C48"], ...["HOST-C03", "HOST-C05", "HOST-C31"]],
  },
  {
    point: 3,
    about: "malformed commands",
    checks: [
      ...["UTP-C07", "UTP-C10", "UTP-C11", "UTP-C13", "UTP-C14", "UTP-C15", "UTP-C16", "UTP-C17", "UTP-C45"],
      ...["HOST-C14", "HOST-C19", "HOST-C32"],
    ],
  },
  { point: 5, about: "channels", checks: ["UTP-C44", "UTP-C49"] },
];

const namesOf = (wrong: readonly Wrong[], id: string): readonly string[] =>
  wrong.filter(({ clause }) => clause === id).map(({ name }) => name);

/** In the order of the points. A check that a point names and that does not exist is left out. */
export const planChecks = ({ conform, hostCheck, overHttp, overNats, hosts }: Corpus): readonly CheckRow[] =>
  POINTS.flatMap(({ point, about, checks }) =>
    checks.flatMap((id): readonly CheckRow[] => {
      const clause = conform.find((one) => one.id === id);
      if (clause !== undefined) {
        const http = clause.section === "NATS" ? undefined : namesOf(overHttp, id);
        return [{ point, about, check: clause, http, nats: namesOf(overNats, id), host: undefined }];
      }
      const rule = hostCheck.find((one) => one.id === id);
      if (rule === undefined) return [];
      return [{ point, about, check: rule, http: undefined, nats: undefined, host: namesOf(hosts, id) }];
    }),
  );

/** Checks that name a clause and stand under no point, and checks without a wrong service or host where they exist. */
export const findUnshown = (corpus: Corpus): readonly string[] => {
  const rows = planChecks(corpus);
  const listed = new Set(rows.map(({ check }) => check.id));
  const named = [...corpus.conform, ...corpus.hostCheck].filter(({ utp }) => utp !== undefined);
  return [
    ...named.filter(({ id }) => !listed.has(id)).map(({ id }) => `${id} stands under no point`),
    ...rows.filter(({ check }) => check.utp === undefined).map(({ check }) => `${check.id} names no clause`),
    ...rows.flatMap(({ check, http, nats, host }) =>
      Object.entries({ HTTP: http, NATS: nats, host })
        .filter(([, names]) => names?.length === 0)
        .map(([where]) => `${check.id} has no wrong one at ${where}`),
    ),
  ];
};

const cell = (names: readonly string[] | undefined): string => names?.join("; ") ?? "";

export const checksText = (rows: readonly CheckRow[]): string =>
  [
    "## What `conform` and `host check` find",
    "",
    "The clauses that a service or a host can break from its own side, with the check that finds it and what fails that check in",
    "the corpus (`packages/testkit/src/wrong-services`, `tests/hosts/check-programs`), by the way it is connected. No host can break the",
    "clauses about channels: it is sent no subject and no header ([the guide](../guides/conformance.md#what-a-host-cannot-break)).",
    "",
    "| point | clauses | check | rule | wrong services over HTTP | over NATS | wrong hosts |",
    "|---|---|---|---|---|---|---|",
    ...rows.map(
      ({ point, about, check, http, nats, host }) =>
        `| ${point} ${about} | ${check.utp ?? ""} | ${check.id} | ${check.title} | ${cell(http)} | ${cell(nats)} | ${cell(host)} |`,
    ),
    "",
  ].join("\n");
