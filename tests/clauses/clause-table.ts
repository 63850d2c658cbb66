// The table of clauses: every rule of the tool protocol, in our words, against the doors at which it can be broken, with the
// tests that try it there. A door of a clause that none of its tests tries is a gap, and gaps are listed by name.

import type { Proof } from "../requirements/proofs.ts";
import type { Rule } from "../requirements/rule.ts";
import { clauseDoors, DOORS, type Door, sectionsOf } from "./door.ts";

/** A test file that claims rules, and the doors it tries. */
export interface ClaimAtDoors extends Proof {
  readonly doors: readonly Door[];
}

export interface ClauseRow {
  readonly rule: Rule;
  readonly tests: Readonly<Record<Door, readonly string[]>>;
  /** Doors the rule names itself and no test of it tries: a fault. */
  readonly untried: readonly Door[];
}

export interface Clause {
  readonly section: string;
  readonly rows: readonly ClauseRow[];
  /** Doors at which the clause can be broken and none of its rules is tried. */
  readonly gaps: readonly Door[];
}

const byDoor = (files: (door: Door) => readonly string[]): ClauseRow["tests"] => ({
  HTTP: files("HTTP"),
  NATS: files("NATS"),
  "in process": files("in process"),
  host: files("host"),
});

const rowOf = (rule: Rule, claims: readonly ClaimAtDoors[]): ClauseRow => {
  const tests = byDoor((door) => [
    ...new Set(claims.filter(({ doors }) => doors.includes(door)).map(({ file }) => file)),
  ]);
  return { rule, tests, untried: (rule.doors ?? []).filter((door) => tests[door].length === 0) };
};

/** 2.10 comes after 2.9, and letters after numbers. */
const orderOf = (section: string): string => section.replaceAll(/\d+/g, (digits) => digits.padStart(3, "0"));

export const planClauses = (rules: readonly Rule[], claims: readonly ClaimAtDoors[]): readonly Clause[] => {
  const claimed = Map.groupBy(claims, ({ id }) => id);
  const own = rules.filter(({ source }) => source.startsWith("utp "));
  const kept = own.flatMap((rule) => sectionsOf(rule.source).map((section) => ({ section, rule })));
  return [...Map.groupBy(kept, ({ section }) => section)]
    .sort(([a], [b]) => (orderOf(a) < orderOf(b) ? -1 : 1))
    .map(([section, listed]) => {
      const rows = listed.map(({ rule }) => rowOf(rule, claimed.get(rule.id) ?? []));
      const gaps = clauseDoors(section).filter((door) => rows.every(({ tests }) => tests[door].length === 0));
      return { section, rows, gaps };
    });
};

const SHOWN = 2;

const nameOf = (file: string): string =>
  file
    .split("/")
    .at(-1)
    ?.replace(/\.(test|contract)\.ts$/, "") ?? file;

const cellOf = (files: readonly string[]): string => {
  const names = [...new Set(files.map(nameOf))].sort();
  const more = names.length > SHOWN ? ` +${names.length - SHOWN}` : "";
  return names.length === 0 ? "" : `${names.slice(0, SHOWN).join(", ")}${more}`;
};

const INTRO = `# Clauses and doors

Written by \`npm run docs\` from \`tests/requirements\` and the titles of the tests; do not edit it by hand.

Every rule of the tool protocol, in our words, with the tests that try it, by the door they come through: **HTTP**, **NATS**
(a client that speaks the bus or the gateway), **in process** (the engine, the worker or the runner itself) and **host** (a tool
host's lines). A test is named by its file. "To be tried at" says where a clause can be broken from outside; a door among
them that no test of the clause tries is a gap, and stands in the list at the end. A rule that keeps several clauses stands
under each of them. A rule of a part that is not built yet says so.
`;

const sectionText = ({ section, rows }: Clause, built: ReadonlySet<string>): string => {
  const lines = rows.map(({ rule, tests }) => {
    const isBuilt = built.has(rule.part);
    const cells = DOORS.map((door) => cellOf(tests[door]));
    const text = `${rule.text}${isBuilt ? "" : ` *(not built: ${rule.part})*`}`.replaceAll("|", "\\|");
    return `| ${rule.id} | ${text} | ${cells.join(" | ")} |`;
  });
  return [
    `## ${section}`,
    "",
    `To be tried at: ${clauseDoors(section).join(", ")}.`,
    "",
    `| rule | what it says | ${DOORS.join(" | ")} |`,
    "|---|---|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
};

/** `checks` is the table of checks (check-table.ts), which stands before the gaps. */
export const clausesPage = (clauses: readonly Clause[], built: ReadonlySet<string>, checks = ""): string => {
  const isBuilt = ({ rows }: Clause): boolean => rows.some(({ rule }) => built.has(rule.part));
  const gaps = clauses
    .filter((clause) => clause.gaps.length > 0 && isBuilt(clause))
    .map(({ section, gaps: doors }) => `- ${section}: no test through ${doors.join(", ")}`);
  return [
    INTRO,
    ...clauses.map((clause) => sectionText(clause, built)),
    ...(checks === "" ? [] : [checks]),
    "## Gaps",
    "",
    ...(gaps.length === 0 ? ["None."] : gaps),
    "",
  ].join("\n");
};
