// Reads events by position, for readers over HTTP: the position is the event's id, so a reader that comes back continues where
// it was. Hundreds of readers are at the same position and are woken together: readers that ask for the same page share a read
// that begins after they asked, so none misses what was committed before.

import { showName, ToolplaneError } from "@toolplane/protocol";
import type { Database } from "../sql/database.ts";
import { NOW_POSITION, READ_EVENTS } from "./event-log.sql.ts";

export interface LoggedEvent {
  /** Where the next read continues. */
  readonly position: string;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

export interface EventLog {
  /** The end of the log: what is read from here comes after this moment. */
  now(): Promise<string>;
  read(projectId: string, after: string, limit?: number): Promise<readonly LoggedEvent[]>;
}

interface EventRow {
  readonly xid: string;
  readonly id: string;
  readonly subject: string;
  readonly headers: string;
  readonly payload: string;
}

const PAGE = 200;
const MAX_DIGITS = 20;
/** The limits of PostgreSQL's types: the database would refuse a larger number. */
const MAX_XID8 = 2n ** 64n - 1n;
const MAX_BIGINT = 2n ** 63n - 1n;

const isNumberUpTo = (text: string | undefined, max: bigint): text is string =>
  text !== undefined &&
  text !== "" &&
  text.length <= MAX_DIGITS &&
  [...text].every((digit) => digit >= "0" && digit <= "9") &&
  BigInt(text) <= max;

const parsePosition = (position: string): readonly [string, string] => {
  const [xid, id, ...rest] = position.split("-", 3);
  if (rest.length > 0 || !isNumberUpTo(xid, MAX_XID8) || !isNumberUpTo(id, MAX_BIGINT))
    throw new ToolplaneError(
      "bad_request",
      `${showName(position)} is not an event id this server has given; send one it has, or none`,
    );
  return [xid, id];
};

type Page = Promise<readonly LoggedEvent[]>;

/** For each question at most one read is under way, and one waits that answers all who asked meanwhile. */
const createSharedReads = (): ((question: string, read: () => Page) => Page) => {
  const underWay = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Page>();
  const begin = (question: string, read: () => Page): Page => {
    waiting.delete(question);
    const page = read();
    const over = page.then(
      () => underWay.delete(question),
      () => underWay.delete(question),
    );
    underWay.set(question, over);
    return page;
  };
  return (question, read) => {
    const joined = waiting.get(question);
    if (joined !== undefined) return joined;
    const before = underWay.get(question);
    if (before === undefined) return begin(question, read);
    const next = before.then(() => begin(question, read));
    waiting.set(question, next);
    return next;
  };
};

export const createEventLog = (db: Pick<Database, "query">): EventLog => {
  const share = createSharedReads();
  return {
    async now() {
      const [row] = await db.query<{ xid: string }>(NOW_POSITION);
      return `${row?.xid}-0`;
    },
    async read(projectId, after, limit = PAGE) {
      const [xid, id] = parsePosition(after);
      return share(`${projectId} ${after} ${limit}`, async () => {
        const rows = await db.query<EventRow>(READ_EVENTS, [projectId, xid, id, limit]);
        return rows.map((row) => ({
          position: `${row.xid}-${row.id}`,
          subject: row.subject,
          headers: JSON.parse(row.headers) as Record<string, string>,
          payload: row.payload,
        }));
      });
    },
  };
};
