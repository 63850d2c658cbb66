// EXPLAIN (ANALYZE, BUFFERS) of what an engine really sends: while it records, every statement runs twice, first
// explained and rolled back, then for real.

import type { Queryer } from "@toolplane/engine";
import type { Database, Part, Statement } from "@toolplane/engine/internal";
import { explainAnalyze } from "./blocks.sql.ts";

interface PlanNode {
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly "Node Type": string;
  readonly "Subplan Name"?: string;
  readonly Plans?: readonly PlanNode[];
}

interface PlanRow {
  readonly "QUERY PLAN": readonly [{ readonly Plan: PlanNode; readonly "Execution Time": number }];
}

export interface ExplainedStatement {
  times: number;
  blocks: number;
  ms: number;
}

/** A CTE that writes is accounted for where somebody reads it; if nobody does, only in its own node. */
const blocksOf = (node: PlanNode): number => {
  const own = node["Shared Hit Blocks"] + node["Shared Read Blocks"];
  const unread = (node.Plans ?? [])
    .filter((plan) => plan["Subplan Name"]?.startsWith("CTE ") === true && plan["Node Type"] === "ModifyTable")
    .reduce((sum, plan) => sum + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], 0);
  return Math.max(own, unread);
};

export interface ExplainRecorder {
  readonly seen: ReadonlyMap<string, ExplainedStatement>;
  start(): void;
  stop(): void;
}

class Undo extends Error {}

export const recordExplains = (db: Database): ExplainRecorder => {
  const seen = new Map<string, ExplainedStatement>();
  const { query, transaction, together } = db;

  const note = (statement: Statement, [row]: readonly PlanRow[]): void => {
    const plan = row?.["QUERY PLAN"][0];
    if (plan === undefined) return;
    const sum = seen.get(statement.name) ?? { times: 0, blocks: 0, ms: 0 };
    sum.times++;
    sum.blocks += blocksOf(plan.Plan);
    sum.ms += plan["Execution Time"];
    seen.set(statement.name, sum);
  };

  const explained = (statement: Statement): Statement => ({ name: "", text: explainAnalyze(statement.text) });

  const explainAlone = async (statement: Statement, values: readonly unknown[]): Promise<void> => {
    await transaction
      .call(db, async (tx: Queryer) => {
        note(statement, await tx.query<PlanRow>(explained(statement), values));
        throw new Undo();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undo) && !(error instanceof Error && error.cause instanceof Undo)) throw error;
      });
  };

  const within = (tx: Queryer): Queryer => ({
    ...tx,
    async query(statement, values = []) {
      await tx.query({ name: "", text: "savepoint explained" });
      note(statement, await tx.query<PlanRow>(explained(statement), values));
      await tx.query({ name: "", text: "rollback to savepoint explained" });
      return tx.query(statement, values);
    },
  });

  return {
    seen,
    start() {
      Object.assign(db, {
        async query(statement: Statement, values: readonly unknown[] = []) {
          await explainAlone(statement, values);
          return query.call(db, statement, values);
        },
        transaction: <T>(work: (tx: Queryer) => Promise<T>) => transaction.call(db, (tx: Queryer) => work(within(tx))),
        together: (parts: readonly Part[]) =>
          transaction.call(db, async (tx: Queryer) => {
            const rows: object[][] = [];
            for (const { statement, values } of parts) rows.push(await within(tx).query<object>(statement, values));
            return rows;
          }),
      });
    },
    stop: () => {
      Object.assign(db, { query, transaction, together });
    },
  };
};
