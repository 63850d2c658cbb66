// Fills a database with settled calls, in slices, spread over several projects.

import type { Database } from "@toolplane/engine/internal";
import {
  BRING_STATISTICS_UP_TO_DATE,
  MAKE_INBOX,
  MAKE_KEYS,
  MAKE_PROJECTS,
  makeCallCards,
  makeCalls,
  makeResultCards,
  READ_COLUMNS,
} from "./settled-history.sql.ts";

// A statement of the engine's connections may take half a minute; a slice takes a second or two.
const SLICE = 20_000;

export interface HistoryOptions {
  /** A project with at least one settled direct call: the one that is copied. */
  readonly sampleProject: string;
  readonly calls: number;
  /** How many projects share them with that one. */
  readonly otherProjects?: number;
  /** When the first of them was made. */
  readonly beganMs: number;
}

export const makeSettledHistory = async (
  db: Database,
  { sampleProject, calls, otherProjects = 10, beganMs }: HistoryOptions,
): Promise<void> => {
  const run = <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    db.query<Row>({ name: "", text }, values);
  const columnsOf = async (schema: string, table: string): Promise<string[]> =>
    (await run<{ column_name: string }>(READ_COLUMNS, [schema, table])).map((row) => row.column_name);
  const cardColumns = await columnsOf("cards", "cards");
  const statements = [
    makeCalls(await columnsOf("state", "past_calls")),
    makeCallCards(cardColumns),
    makeResultCards(cardColumns),
    MAKE_KEYS,
    MAKE_INBOX,
  ];
  if (calls === 0) return;
  await run(MAKE_PROJECTS, [otherProjects]);
  const size = Math.min(SLICE, Math.ceil(calls / (otherProjects + 1)));
  for (let slice = 0; slice * size < calls; slice++) {
    const first = slice * size + 1;
    const last = Math.min(first + size - 1, calls);
    // The project at work gets a slice as well: it has a past like the others.
    const project = slice % (otherProjects + 1) === 0 ? sampleProject : `past_${slice % (otherProjects + 1)}`;
    for (const text of statements) await run(text, [sampleProject, first, last, project, beganMs]);
  }
  for (const text of BRING_STATISTICS_UP_TO_DATE) await run(text);
};
