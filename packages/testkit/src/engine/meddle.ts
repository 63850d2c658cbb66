// The one way in which tests change the engine's tables without the engine: time that passes, rows that are lost or broken,
// processes that fell silent. Each change has a name; its statement is in meddle-*.sql.ts and nowhere else.

import { queryTestDatabase, type TestRow } from "../postgres-client.ts";
import { MEDDLE_ATTACK } from "./meddle-attack.sql.ts";
import { MEDDLE_BATCHES } from "./meddle-batches.sql.ts";
import { MEDDLE_BUS } from "./meddle-bus.sql.ts";
import { MEDDLE_CALLS } from "./meddle-calls.sql.ts";
import { MEDDLE_FULL } from "./meddle-full.sql.ts";
import { MEDDLE_HISTORY } from "./meddle-history.sql.ts";
import { MEDDLE_LOGINS } from "./meddle-logins.sql.ts";
import { MEDDLE_PROJECTS } from "./meddle-projects.sql.ts";
import { MEDDLE_TURNS } from "./meddle-turns.sql.ts";
import { MEDDLE_WEBHOOKS } from "./meddle-webhooks.sql.ts";

/** For a test that needs the statement itself, inside a transaction of its own. */
export const MEDDLINGS = {
  ...MEDDLE_CALLS,
  ...MEDDLE_TURNS,
  ...MEDDLE_BUS,
  ...MEDDLE_HISTORY,
  ...MEDDLE_LOGINS,
  ...MEDDLE_WEBHOOKS,
  ...MEDDLE_BATCHES,
  ...MEDDLE_ATTACK,
  ...MEDDLE_PROJECTS,
  ...MEDDLE_FULL,
} as const;

type Meddling = keyof typeof MEDDLINGS;

interface HasDatabase {
  readonly database: { readonly url: string };
}

/** Changes the tables of a database, given by its URL or by the engine on it; resolves to the rows the change returns. */
export const meddle = async <Row extends object = TestRow>(
  where: HasDatabase | string,
  what: Meddling,
  values: readonly unknown[] = [],
): Promise<Row[]> =>
  (await queryTestDatabase(typeof where === "string" ? where : where.database.url, MEDDLINGS[what], [
    ...values,
  ])) as object[] as Row[];
