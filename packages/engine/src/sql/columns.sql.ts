// One description per row: the columns of a row in one table, from which its type, its bound arrays, its column lists in
// statements and its mapping are made. A new column is one line in that table, so no place can be forgotten.

import { type SetInput, type SqlType, setInput, snakeCase } from "./input.sql.ts";

export interface Column<Value, Stored = Value> {
  /** The column as it is read, when that is not the column itself. */
  readonly select?: ((column: string) => string) | undefined;
  /** From what the driver gives to what the program uses. */
  readonly read?: ((stored: Stored) => Value) | undefined;
}

/** A column whose values the program gives. */
export interface GivenColumn<Value, Stored = Value> extends Column<Value, Stored> {
  readonly type: SqlType;
}

export type Columns = Readonly<Record<string, Column<unknown, never>>>;
type GivenColumns = Readonly<Record<string, GivenColumn<unknown, never>>>;

type StoredIn<One> = One extends Column<unknown, infer Stored> ? Stored : never;
type ValueOf<One> = One extends Column<infer Value, never> ? Value : never;

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${SnakeCase<Rest>}`
    : `_${Lowercase<First>}${SnakeCase<Rest>}`
  : "";

/** The row as the program uses it. */
export type ValuesOf<Table extends Columns> = { readonly [Field in keyof Table]: ValueOf<Table[Field]> };
/** The row as it is given to a statement: the program's names, the database's values. */
export type GivenOf<Table extends Columns> = { readonly [Field in keyof Table]: StoredIn<Table[Field]> };
/** The row as the driver gives it. */
export type RowOf<Table extends Columns> = {
  readonly [Field in keyof Table & string as SnakeCase<Field>]: StoredIn<Table[Field]>;
};

export const given = <Value, Stored = Value>(
  type: SqlType,
  how: Column<Value, Stored> = {},
): GivenColumn<Value, Stored> => ({ type, ...how });

/** A column that only statements write. */
export const kept = <Value, Stored = Value>(how: Column<Value, Stored> = {}): Column<Value, Stored> => how;

const aliased = (alias: string, column: string): string => (alias === "" ? column : `${alias}.${column}`);

/** `project_id, tool_call_id, ...`, for INSERT lists. */
export const namesOf = (table: Columns, alias = ""): string =>
  Object.keys(table)
    .map((field) => aliased(alias, snakeCase(field)))
    .join(", ");

/** The same as they are read: with their expressions. */
export const selectOf = (table: Columns, alias = "c"): string =>
  Object.entries(table)
    .map(([field, { select }]) => {
      const column = snakeCase(field);
      return select === undefined ? aliased(alias, column) : `${select(aliased(alias, column))} as ${column}`;
    })
    .join(", ");

export const readerOf = <Table extends Columns>(table: Table): ((row: RowOf<Table>) => ValuesOf<Table>) => {
  const fields = Object.entries(table).map(([field, { read }]) => ({ field, column: snakeCase(field), read }));
  return (row) => {
    const values: Record<string, unknown> = {};
    for (const { field, column, read } of fields) {
      const stored = (row as Readonly<Record<string, unknown>>)[column];
      values[field] = read === undefined ? stored : read(stored as never);
    }
    return values as ValuesOf<Table>;
  };
};

/** The same from a row as it is given to a statement. */
export const valuesOf = <Table extends Columns>(table: Table): ((given: GivenOf<Table>) => ValuesOf<Table>) => {
  const fields = Object.entries(table);
  return (row) => {
    const values: Record<string, unknown> = {};
    for (const [field, { read }] of fields) values[field] = read === undefined ? row[field] : read(row[field] as never);
    return values as ValuesOf<Table>;
  };
};

/** The row that an input takes. */
export type RowIn<Input> = Input extends SetInput<infer Row> ? Row : never;

/** What is bound for rows of this table; `first` as for `setInput`. */
export const inputOf = <Table extends GivenColumns>(table: Table, first = 1): SetInput<GivenOf<Table>> =>
  setInput<GivenOf<Table>>(
    Object.entries(table).map(([field, { type }]) => [field as keyof Table & string, type] as const),
    first,
  );
