// Reads cards by id: requests of the same moment share a statement, whatever their projects.
//   I7. Each request asks for (project, id) and gets only its own cards.
//   A read is sent after it was asked for: it sees everything that was committed until then.

import { createCoalescer } from "../coalescer/coalescer.ts";
import type { Queryer } from "../sql/database.ts";
import { bindCardKeys, READ_CARDS, type StoredBody } from "./cards.sql.ts";

export type ReadCards = (projectId: string, ids: readonly string[], tx?: Queryer) => Promise<readonly StoredBody[]>;

interface Wanted {
  readonly projectId: string;
  readonly ids: readonly string[];
}

interface FoundRow extends StoredBody {
  readonly ord: number;
}

// A card may be a megabyte: few enough that an answer fits into memory, and enough for the callers of a busy moment. A page that
// asks for more cards is read alone.
const MAX_CARDS = 64;

const readAll = async (db: Queryer, wanted: readonly Wanted[]): Promise<readonly (readonly StoredBody[])[]> => {
  const keys = wanted.flatMap(({ projectId, ids }, index) => ids.map((cardId) => ({ projectId, cardId, index })));
  const perRequest = wanted.map((): StoredBody[] => []);
  for (const row of await db.query<FoundRow>(READ_CARDS, bindCardKeys(keys)))
    perRequest[keys[row.ord - 1]?.index ?? -1]?.push(row);
  return perRequest;
};

export const createCardReads = (db: Queryer): ReadCards => {
  const reads = createCoalescer<Wanted, readonly StoredBody[]>({
    // The weight of a request is the number of its cards.
    bytesOf: ({ ids }) => ids.length,
    maxBytes: MAX_CARDS,
    flush: (wanted) => readAll(db, wanted),
  });
  return async (projectId, ids, tx) => {
    if (ids.length === 0) return [];
    const wanted = { projectId, ids };
    return tx === undefined ? reads.submit(wanted) : ((await readAll(tx, [wanted]))[0] ?? []);
  };
};
