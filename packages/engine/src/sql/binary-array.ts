// PostgreSQL's binary form of one-dimensional arrays, in which set-based statements are sent: nothing is quoted, and the server
// parses no text. Measured with 256 rows of 30 columns (2.8 kB each) against the text form that `pg` makes of arrays: 10 instead
// of 26 microseconds a row here, 10 instead of 18 on the server.
//   Layout, big-endian: dimensions (0 when empty, else 1), has-nulls flag, element type; then length and lower bound (1);
//   then per element its length in bytes (-1: null) and its bytes.

import { ToolplaneError } from "@toolplane/protocol";

export type ArrayType = "text" | "boolean" | "integer" | "bigint" | "double precision";

export interface ArrayColumn {
  readonly type: ArrayType;
  readonly values: readonly unknown[];
}

interface Encoding {
  /** The element's type in pg_type; the numbers of built-in types never change. */
  readonly oid: number;
  /** Bytes the value can take at most. */
  readonly room: (value: unknown) => number;
  /** Writes the value and returns the offset after it. */
  readonly write: (target: Buffer, value: unknown, offset: number) => number;
}

// A UTF-16 unit becomes at most three bytes of UTF-8.
const MAX_BYTES_PER_UNIT = 3;

const integerOf = (value: unknown, type: ArrayType, limit: bigint): bigint => {
  const number = typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
  const whole = typeof number === "string" && /^-?\d{1,19}$/.test(number) ? BigInt(number) : number;
  if (typeof whole === "bigint" && whole >= -limit && whole < limit) return whole;
  throw new ToolplaneError("internal_error", `a value bound to a column of type ${type} is not one`);
};

const ENCODINGS: Readonly<Record<ArrayType, Encoding>> = {
  text: {
    oid: 25,
    room: (value) => String(value).length * MAX_BYTES_PER_UNIT,
    write: (target, value, offset) => offset + target.write(String(value), offset, "utf8"),
  },
  boolean: {
    oid: 16,
    room: () => 1,
    write: (target, value, offset) => target.writeUInt8(value === true ? 1 : 0, offset),
  },
  integer: {
    oid: 23,
    room: () => 4,
    write: (target, value, offset) => target.writeInt32BE(Number(integerOf(value, "integer", 2n ** 31n)), offset),
  },
  bigint: {
    oid: 20,
    room: () => 8,
    write: (target, value, offset) => target.writeBigInt64BE(integerOf(value, "bigint", 2n ** 63n), offset),
  },
  "double precision": {
    oid: 701,
    room: () => 8,
    write: (target, value, offset) => target.writeDoubleBE(Number(value), offset),
  },
};

const EMPTY_HEADER_BYTES = 12;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
const LEAST_ROOM = 1024;

/** One buffer per column, which `pg` sends as it is. All are parts of one allocation of at least `room` bytes. */
export const encodeArrays = (columns: readonly ArrayColumn[], room: number): Buffer[] => {
  let target = Buffer.allocUnsafe(Math.max(room, LEAST_ROOM));
  let offset = 0;
  const ensure = (bytes: number): void => {
    if (offset + bytes <= target.length) return;
    const larger = Buffer.allocUnsafe(Math.max(target.length * 2, offset + bytes));
    target.copy(larger, 0, 0, offset);
    target = larger;
  };

  const writeColumn = ({ type, values }: ArrayColumn): void => {
    const encoding = ENCODINGS[type];
    ensure(HEADER_BYTES);
    const start = offset;
    let hasNulls = 0;
    offset += values.length === 0 ? EMPTY_HEADER_BYTES : HEADER_BYTES;
    for (const value of values) {
      if (value === null || value === undefined) {
        ensure(LENGTH_BYTES);
        offset = target.writeInt32BE(NULL_LENGTH, offset);
        hasNulls = 1;
        continue;
      }
      ensure(LENGTH_BYTES + encoding.room(value));
      const end = encoding.write(target, value, offset + LENGTH_BYTES);
      target.writeInt32BE(end - offset - LENGTH_BYTES, offset);
      offset = end;
    }
    const header = values.length === 0 ? [0, 0, encoding.oid] : [1, hasNulls, encoding.oid, values.length, 1];
    for (const [index, field] of header.entries()) target.writeInt32BE(field, start + index * 4);
  };

  const ends = columns.map((column) => {
    writeColumn(column);
    return offset;
  });
  return ends.map((end, index) => target.subarray(ends[index - 1] ?? 0, end));
};
