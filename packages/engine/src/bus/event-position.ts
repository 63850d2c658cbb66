// Where a reader of the event log stands: everything up to a place is read, except what late transactions wrote. They had
// taken ids up to that place and were still open when it was read. A reader that keeps nothing but this text misses no late
// commit, and waits for no open transaction.
//   `5512`               everything up to message 5512
//   `5512.3`             up to the third event of the parcel 5512
//   `5512~812,+3-`       up to message 5512, without the transaction 812 and those from 815 on
//   `5512~812:5400.2,+3-` the same, but what 812 wrote is read up to the second event of 5400
//   `812-5512`           the form of earlier versions: everything up to message 5512 of transaction 812, in the order of transactions
// A snapshot lists the open transactions below a number; all from that number on count as open.

import { showName, ToolplaneError } from "@toolplane/protocol";

/** An event of the log: its message, and which event of a parcel it is; part 0: the message is the event. */
export interface Place {
  readonly id: bigint;
  readonly part: number;
}

/** Transactions, by their numbers. */
export interface Late {
  readonly from: bigint;
  /** The last of them; the largest number there is: all from there on. */
  readonly to: bigint;
  /** What they wrote is read up to here. */
  readonly after?: Place | undefined;
}

/** Which transactions a snapshot does not show. */
export interface Open {
  readonly listed: readonly bigint[];
  /** From this number on all are open, or yet to come. */
  readonly from: bigint;
}

export interface Position extends Place {
  readonly late: readonly Late[];
}

export interface OldPosition {
  readonly xid: bigint;
  readonly id: bigint;
}

export const BEGINNING: Place = { id: 0n, part: 0 };

/** Of PostgreSQL's types: a larger number would make the database refuse the statement. */
export const MAX_XID8 = 2n ** 64n - 1n;
const MAX_BIGINT = 2n ** 63n - 1n;
const MAX_PART = 2 ** 31 - 1;
/** More transactions are not open at once, and a longer text is not an id of ours. */
const MAX_LATE = 2_000;
const MAX_LENGTH = 16_384;

const PLACE = String.raw`(\d{1,20})(?:\.(\d{1,10}))?`;
const WHOLE = new RegExp(`^${PLACE}(?:~(.+))?$`);
const LATE = new RegExp(String.raw`^(\+?)(\d{1,20})(-?)(\d{0,20})(?::${PLACE})?$`);
const OLD = /^(\d{1,20})-(\d{1,20})$/;

const placeOf = (id: string, part: string | undefined): Place | undefined => {
  const place = { id: BigInt(id), part: Number(part ?? 0) };
  return place.id <= MAX_BIGINT && place.part <= MAX_PART ? place : undefined;
};

const lateOf = (text: string): readonly Late[] | undefined => {
  const late: Late[] = [];
  for (const item of text.split(",", MAX_LATE + 1)) {
    const [, plus, number, dash, length, id, part] = LATE.exec(item) ?? [];
    const [first] = late;
    if (number === undefined || (plus === "+") !== (first !== undefined) || (dash === "" && length !== ""))
      return undefined;
    const from = BigInt(number) + (first?.from ?? 0n);
    const to = dash === "" ? from : length === "" ? MAX_XID8 : from + BigInt(length ?? "");
    const after = id === undefined ? undefined : placeOf(id, part);
    if (from > to || to > MAX_XID8 || (id !== undefined && after === undefined)) return undefined;
    late.push({ from, to, after });
  }
  return late.length <= MAX_LATE ? late : undefined;
};

const tryParse = (text: string): Position | OldPosition | undefined => {
  if (text.length > MAX_LENGTH) return undefined;
  const [, xid, old] = OLD.exec(text) ?? [];
  if (xid !== undefined && old !== undefined) {
    const position = { xid: BigInt(xid), id: BigInt(old) };
    return position.xid <= MAX_XID8 && position.id <= MAX_BIGINT ? position : undefined;
  }
  const [, id, part, rest] = WHOLE.exec(text) ?? [];
  const place = id === undefined ? undefined : placeOf(id, part);
  const late = rest === undefined ? [] : lateOf(rest);
  return place === undefined || late === undefined ? undefined : { ...place, late };
};

export const parsePosition = (text: string): Position | OldPosition => {
  const position = tryParse(text);
  if (position !== undefined) return position;
  throw new ToolplaneError(
    "bad_request",
    `${showName(text)} is not an event id this server has given; send one it has, or none`,
  );
};

const placeText = ({ id, part }: Place): string => (part === 0 ? `${id}` : `${id}.${part}`);

const byNumber = (late: readonly Late[]): readonly Late[] => [...late].sort((a, b) => (a.from < b.from ? -1 : 1));

export const positionText = ({ late, ...place }: Position): string => {
  const [first, ...others] = byNumber(late);
  if (first === undefined) return placeText(place);
  const rest = ({ from, to, after }: Late): string =>
    (from === to ? "" : to === MAX_XID8 ? "-" : `-${to - from}`) + (after === undefined ? "" : `:${placeText(after)}`);
  const offsets = others.map((one) => `,+${one.from - first.from}${rest(one)}`).join("");
  return `${placeText(place)}~${first.from}${rest(first)}${offsets}`;
};

const isAfter = (one: Place, other: Place): boolean =>
  one.id > other.id || (one.id === other.id && one.part > other.part);

export const lateOfOpen = ({ listed, from }: Open): readonly Late[] => [
  ...listed.map((xid): Late => ({ from: xid, to: xid })),
  { from, to: MAX_XID8 },
];

/** The transactions of the range that are not open any more. */
const endedOf = (range: Late, { listed, from }: Open): readonly Late[] => {
  const ended: Late[] = [];
  let begin = range.from;
  for (const xid of [...listed]
    .sort((a, b) => (a < b ? -1 : 1))
    .filter((one) => one >= range.from && one <= range.to)) {
    if (begin < xid) ended.push({ ...range, from: begin, to: xid - 1n });
    begin = xid + 1n;
  }
  const end = range.to < from ? range.to : from - 1n;
  if (begin <= end) ended.push({ ...range, from: begin, to: end });
  return ended;
};

/**
 * Where a reader stands that was at `before` and has read up to `event` in a snapshot that does not show `open`. Events are read in
 * the order of their ids, so what comes from late transactions comes first.
 */
export const advance = (before: Position, event: Place, open: Open): Position => {
  const stillOpen = lateOfOpen(open);
  if (isAfter(event, before)) return { ...event, late: stillOpen };
  // What one of them wrote may be read further than this event: another one that ended later wrote it.
  const ended = before.late
    .flatMap((range) => endedOf(range, open))
    .map((range) => ({
      ...range,
      after: range.after === undefined || isAfter(event, range.after) ? event : range.after,
    }));
  return { id: before.id, part: before.part, late: byNumber([...stillOpen, ...ended]) };
};
