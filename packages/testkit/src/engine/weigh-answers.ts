// Weighs what the database answers an engine: what is read at once is bounded in bytes.

import type { Engine } from "@toolplane/engine";

export interface WeighedAnswer {
  /** Of the statement. */
  readonly name: string;
  readonly bytes: number;
}

/** From now on, for the rest of the engine's life. */
export const weighAnswers = ({ db }: Engine): readonly WeighedAnswer[] => {
  const answers: WeighedAnswer[] = [];
  const { query } = db;
  const weighing: Pick<Engine["db"], "query"> = {
    query: async <Row extends object>(...[statement, values]: Parameters<typeof query>): Promise<Row[]> => {
      const rows = await query<Row>(statement, values);
      answers.push({ name: statement.name, bytes: JSON.stringify(rows).length });
      return rows;
    },
  };
  Object.assign(db, weighing);
  return answers;
};
