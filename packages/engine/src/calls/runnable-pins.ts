// Which pinned definitions a service may run, from the hashes it names. Answered from memory until the registry changes: a service
// names the same hashes with every claim, and most services run no pinned tool.

import type { Doorbell } from "../ports/doorbell.ts";
import { createRecent } from "../recent/recent.ts";
import { FIND_PINS } from "../registry/known-hashes.sql.ts";
import type { Queryer } from "../sql/database.ts";
import { EVERY_DEFINITION } from "./served-versions.ts";

export interface RunnablePins {
  /** In the form in which statements take them: with commas between them; `*` for all. */
  find(projectId: string, definitions: readonly string[] | undefined): Promise<string>;
  close(): void;
}

/** More services than one process has; a list is a few hundred bytes. */
const MAX_REMEMBERED = 1_024;
/** A ring of the registry may be lost (I13), though a process that comes back or comes anew rings for all: rare enough. */
const REMEMBERED_MS = 600_000;

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

export const createRunnablePins = (deps: { readonly db: Queryer; readonly doorbell: Doorbell }): RunnablePins => {
  const { db, doorbell } = deps;
  const known = createRecent<{ readonly list: string }>(MAX_REMEMBERED, { ttl: REMEMBERED_MS });
  let changes = 0;
  const close = doorbell.listen("registry", () => {
    changes++;
    known.clear();
  });
  return {
    close,
    async find(projectId, definitions) {
      if (definitions === undefined || definitions.length === 0) return "";
      if (definitions.includes(EVERY_DEFINITION)) return EVERY_DEFINITION;
      const key = `${projectId} ${definitions.join(",")}`;
      const remembered = known.get(key);
      if (remembered !== undefined) return remembered.list;
      const asked = changes;
      const rows = await db.query<{ definition_hash: string }>(FIND_PINS, [projectId, definitions.filter(isHash)]);
      const list = rows.map((row) => row.definition_hash).join(",");
      // A change during the question may not be in its answer.
      if (asked === changes) known.set(key, { list });
      return list;
    },
  };
};
