// The login that owns the tables, where it differs from the plane's login: its URL must name the same database, and errors name
// its own setting.

import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import type pg from "pg";
import { WHICH_DATABASE } from "./migrate.sql.ts";

const SETTING = "TOOLPLANE_MIGRATION_DATABASE_URL";

const nameOf = ({ host, port, database }: pg.Client): string =>
  host.startsWith("/") ? `${host}/${database}` : `${host}:${port}/${database}`;

const whichDatabase = async (client: pg.Client): Promise<unknown> => (await client.query(WHICH_DATABASE)).rows[0]?.id;

/** Checked before anything is written: migrations must not go to a database that the plane does not use. */
export const checkSameDatabase = async (plane: pg.Client, owner: pg.Client): Promise<void> => {
  if ((await whichDatabase(plane)) === (await whichDatabase(owner))) return;
  throw new ToolplaneError("bad_request", `${SETTING} names ${nameOf(owner)} and the plane runs on ${nameOf(plane)}`, {
    detail: { todo: "both must be the same database" },
  });
};

/** The owner's connection could not be made. */
export const explainOwner = (error: unknown): unknown => {
  if (isToolplaneError(error)) return error;
  const { message, code } = error as { readonly message?: unknown; readonly code?: unknown };
  const why = String(message || code).split("\n")[0];
  return new ToolplaneError("storage_error", `the login for migrations cannot connect: ${why}`, {
    detail: { todo: `check ${SETTING}` },
    cause: error,
  });
};

/** A login that may neither become the engine's role nor see the tables by itself. */
export const noRights = (login: string): ToolplaneError =>
  new ToolplaneError("conflict", `the database login ${login} has no rights on the tables`, {
    detail: { login, todo: `as an administrator: grant toolplane_engine to ${login}` },
  });
