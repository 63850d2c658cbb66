// Reads a list of stored documents one after the other; after every few hundred kilobytes other work runs. A short list, which
// most are, is read at once.

import { setImmediate as breathe } from "node:timers/promises";

const AT_ONCE = 256 * 1024;

export const readInPieces = async <Row, Item>(
  rows: readonly Row[],
  lengthOf: (row: Row) => number,
  read: (row: Row) => Item,
): Promise<Item[]> => {
  const items: Item[] = [];
  let length = 0;
  for (const row of rows) {
    length += lengthOf(row);
    if (length > AT_ONCE && items.length > 0) {
      await breathe();
      length = lengthOf(row);
    }
    items.push(read(row));
  }
  return items;
};
