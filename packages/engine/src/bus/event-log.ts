// Reads events by position, for readers over HTTP: the position is the event's id, so a reader that comes back continues where
// it was. The server lets readers at the same position share a read (`server/src/events/shared-reads.ts`).

import { createRecent } from "../recent/recent.ts";
import type { Database } from "../sql/database.ts";
import { HAS_EVENT, NOW_POSITION, OLD_POSITION, READ_EVENTS } from "./event-log.sql.ts";
import {
  advance,
  BEGINNING,
  type Late,
  lateOfOpen,
  type OldPosition,
  type Open,
  type Position,
  parsePosition,
  positionText,
} from "./event-position.ts";

export interface LoggedEvent {
  /** Where the next read continues. */
  readonly position: string;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

export interface EventLog {
  /** The end of a project's log: what is read from here comes after this moment. */
  now(projectId: string): Promise<string>;
  /** The position of a reader that comes back with the id of an event; refuses a text that cannot be such an id. */
  resume(projectId: string, position: string): Promise<string>;
  /** Whether everything after this position is still there: the event at the position is, or there never was one. */
  isKept(projectId: string, position: string): Promise<boolean>;
  /** At most so many messages; a message may tell several events. */
  read(projectId: string, after: string, limit?: number): Promise<readonly LoggedEvent[]>;
}

interface OpenRow {
  readonly listed: readonly string[];
  readonly unlisted: string;
}

interface PlaceRow extends OpenRow {
  readonly id: string;
  readonly part: number;
}

interface EventRow extends PlaceRow {
  readonly subject: string;
  readonly headers: string;
  readonly payload: string;
}

/** A page without events. */
interface EmptyRow extends OpenRow {
  readonly id: null;
}

interface OldRow extends OpenRow {
  readonly id: string;
  readonly unread: readonly string[];
}

const PAGE = 200;

const openOf = ({ listed, unlisted }: OpenRow): Open => ({ listed: listed.map(BigInt), from: BigInt(unlisted) });

/** A place of an earlier version's order, in this one's. */
const renewed = ({ xid: old, id: oldId }: OldPosition, row: OldRow): Position => {
  const unread = row.unread.map(BigInt).map((xid): Late => ({ from: xid, to: xid }));
  const late = [...unread, ...lateOfOpen(openOf(row))];
  const after = { id: oldId, part: 0 };
  return {
    id: BigInt(row.id),
    part: 0,
    late: late.map((one) => (one.from === old && one.to === old ? { ...one, after } : one)),
  };
};

// Readers of quiet projects; one that is not remembered costs a longer look.
const MAX_QUIET = 10_000;

export const createEventLog = (db: Pick<Database, "query">): EventLog => {
  /** By project and position: the transactions that may still be late after a look that found nothing. */
  const quiet = createRecent<readonly Late[]>(MAX_QUIET);

  const locate = async (projectId: string, text: string): Promise<Position> => {
    const position = parsePosition(text);
    if (!("xid" in position)) return position;
    if (position.xid === 0n) return { ...BEGINNING, late: [] };
    const [row] = await db.query<OldRow>(OLD_POSITION, [projectId, String(position.xid), String(position.id)]);
    return row === undefined ? { ...BEGINNING, late: [] } : renewed(position, row);
  };

  const readAfter = async (projectId: string, position: Position, limit: number): Promise<readonly LoggedEvent[]> => {
    const key = `${projectId} ${positionText(position)}`;
    // Everything that was visible at the last look was read, so only transactions that were open then can still be late.
    const late = quiet.get(key) ?? position.late;
    const rows = await db.query<EventRow | EmptyRow>(READ_EVENTS, [
      projectId,
      String(position.id),
      position.part,
      limit,
      late.map(({ from }) => String(from)),
      late.map(({ to }) => String(to)),
      late.map(({ after }) => String((after ?? BEGINNING).id)),
      late.map(({ after }) => (after ?? BEGINNING).part),
    ]);
    const [empty] = rows;
    if (empty !== undefined && empty.id === null) {
      quiet.set(key, lateOfOpen(openOf(empty)));
      return [];
    }
    return (rows as readonly EventRow[]).map((row) => ({
      position: positionText(advance({ ...position, late }, { id: BigInt(row.id), part: row.part }, openOf(row))),
      subject: row.subject,
      headers: JSON.parse(row.headers) as Record<string, string>,
      payload: row.payload,
    }));
  };

  return {
    async now(projectId) {
      const [row] = await db.query<PlaceRow>(NOW_POSITION, [projectId]);
      if (row === undefined) return positionText({ ...BEGINNING, late: [] });
      return positionText({ id: BigInt(row.id), part: row.part, late: lateOfOpen(openOf(row)) });
    },
    resume: async (projectId, position) => positionText(await locate(projectId, position)),
    async isKept(projectId, text) {
      const position = parsePosition(text);
      if ("xid" in position || position.id === 0n) return true;
      // Events are deleted from the oldest on: while this one is there, none after it is gone.
      return (await db.query(HAS_EVENT, [projectId, String(position.id)])).length > 0;
    },
    read: async (projectId, after, limit = PAGE) => readAfter(projectId, await locate(projectId, after), limit),
  };
};
