// Set-based statements take one array per column. This keeps the columns of a statement, their types and the values
// bound to them in one list, so that they cannot drift apart. Only constants of this package are ever put into text.

export type SqlType = "text" | "boolean" | "integer" | "bigint" | "double precision";

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

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Columns named after the fields of `Row`: `projectId` becomes `project_id`. */
export const setInput = <Row extends object>(
  fields: readonly (readonly [keyof Row & string, SqlType])[],
): SetInput<Row> => {
  const columns = fields.map(([field, type]): InputColumn<Row> => ({ field, column: snakeCase(field), type }));
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(", ");
  const names = columns.map(({ column }) => column).join(", ");
  return {
    from: `unnest(${arrays}) with ordinality as i (${names}, ord)`,
    next: columns.length + 1,
    bind: (rows) => columns.map(({ field }) => rows.map((row) => row[field] ?? null)),
  };
};
