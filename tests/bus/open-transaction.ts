// A transaction that has an id and stays open until it is told how to end.

import type { Queryer } from "@toolplane/engine";
import type { Database } from "@toolplane/engine/internal";
import { createLatch } from "@toolplane/testkit";

export interface OpenTransaction {
  readonly tx: Queryer;
  commit(): Promise<void>;
  rollBack(): Promise<void>;
}

export const openTransaction = async (db: Database): Promise<OpenTransaction> => {
  const end = createLatch();
  const undo = new RangeError("rolled back on purpose");
  let isUndone = false;
  const { promise, resolve } = Promise.withResolvers<Queryer>();
  const ended = db
    .transaction(async (tx) => {
      await tx.query({ name: "test.xid", text: "select pg_current_xact_id()" });
      resolve(tx);
      await end.opened;
      if (isUndone) throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  const tx = await promise;
  return {
    tx,
    commit: () => {
      end.open();
      return ended;
    },
    rollBack: () => {
      isUndone = true;
      end.open();
      return ended;
    },
  };
};
