// A flush that failed because the database is away fails for all its items at once. Running them again one by one, as
// the coalescer does to find the bad item among good ones, would only wait for the same database once per item.

import { isToolplaneError } from "@toolplane/protocol";

type Flush<Item, Outcome> = (items: readonly Item[]) => Promise<readonly (Outcome | Error)[]>;

export const failTogether =
  <Item, Outcome>(flush: Flush<Item, Outcome>): Flush<Item, Outcome> =>
  async (items) => {
    try {
      return await flush(items);
    } catch (error) {
      if (isToolplaneError(error) && error.code === "storage_error") return items.map(() => error);
      throw error;
    }
  };
