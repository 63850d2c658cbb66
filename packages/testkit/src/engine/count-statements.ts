// Counts the statements of engines by name, their notifications included: what a test pins is named when it fails.

import type { Engine } from "@toolplane/engine";

type Db = Engine["db"];
type Query = Db["query"];

export interface CountedStatements {
  /** In the order sent; a notification is `notify`. */
  names(): readonly string[];
}

/** From now on, for the rest of the engines' lives. */
export const countStatements = (engines: readonly Engine[]): CountedStatements => {
  const sent: string[] = [];
  const counting =
    (query: Query): Query =>
    (statement, values) => {
      sent.push(statement.name);
      return query(statement, values);
    };
  const before = engines.map(({ doorbell }) => doorbell.stats().sent);
  for (const { db } of engines) {
    const { transaction, query } = db;
    const counted: Pick<Db, "query" | "transaction"> = {
      query: counting(query),
      transaction: (work) => {
        sent.push("begin", "commit");
        return transaction((tx) => work({ ...tx, query: counting(tx.query) }));
      },
    };
    Object.assign(db, counted);
  }
  return {
    names: () => [
      ...sent,
      ...engines.flatMap(({ doorbell }, index) =>
        Array.from({ length: doorbell.stats().sent - (before[index] ?? 0) }, () => "notify"),
      ),
    ],
  };
};
