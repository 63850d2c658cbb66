// Set-based statements take one array per column. This keeps the columns of a statement, their types and the values
// bound to them in one list, so that they cannot drift apart. Only constants of this package are ever put into text.
//
// Rows of a table are looked up for the rows of an input as `t.project_id = any (array[i.project_id]) and t.id = i.id`, or by a
// lateral subquery with `offset 0`: see docs/decisions/0013-lookups-stay-lookups.md.

import { type ArrayType, encodeArrays } from "./binary-array.ts";

export type SqlType = ArrayType;

/** The fields of a row that a statement takes, with the types of their columns. */
export type InputFields<Row> = readonly (readonly [keyof Row & string, SqlType])[];

export interface InputColumn<Row> {
  readonly field: keyof Row & string;
  readonly column: string;
  readonly type: SqlType;
}

export interface SetInput<Row> {
  /** `unnest($1::text[], ...) with ordinality as i (a, b, ..., ord)` */
  readonly from: string;
  /** The number of the first parameter after the columns. */
  readonly next: number;
  bind(rows: readonly Row[]): unknown[];
}

// Extra room beyond the previous rows, so that slightly larger rows do not cost a second allocation.
const SPARE = 1.2;

export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Columns named after the fields of `Row`: `projectId` becomes `project_id`. A statement with several inputs numbers
 * their parameters on: `first` is the `next` of the one before.
 */
export const setInput = <Row extends object>(fields: InputFields<Row>, first = 1): SetInput<Row> => {
  const columns = fields.map(([field, type]): InputColumn<Row> => ({ field, column: snakeCase(field), type }));
  const arrays = columns.map(({ type }, index) => `$${index + first}::${type}[]`).join(", ");
  const names = columns.map(({ column }) => column).join(", ");
  let bytesPerRow = 0;
  return {
    from: `unnest(${arrays}) with ordinality as i (${names}, ord)`,
    next: columns.length + first,
    bind(rows) {
      const values = columns.map(({ field, type }) => ({ type, values: rows.map((row) => row[field]) }));
      const encoded = encodeArrays(values, Math.ceil(rows.length * bytesPerRow * SPARE));
      const bytes = encoded.reduce((sum, { length }) => sum + length, 0);
      bytesPerRow = bytes / Math.max(rows.length, 1);
      return encoded;
    },
  };
};
