// How many calls start before a queued one, as the queue stands. Services take calls in turn: one of each agent, one of each gate, those of a
// session one after the other. So a call with a thousand calls of another agent before it waits for one of them.
//   QW1. Of a limited tool the number is exact while nothing changes: its gate remembers in the database which agent it served last.
//   QW2. Of other tools the number is an upper bound: each process remembers for itself which agent it served last, so every other agent is counted
//        as if its turn came first.

import type { Queryer, Statement } from "../sql/database.ts";
import type { CallKey } from "./call.ts";
import {
  type BeforeRow,
  COUNT_FREE,
  COUNT_GATED,
  COUNT_OF_PIN,
  COUNT_OF_SESSION,
  COUNT_OTHER_GATES,
  MOST_COUNTED,
  READ_STANDING,
  type StandingRow,
} from "./queue-place.sql.ts";

export interface QueuePlace {
  /** Calls of the target that run. */
  readonly running: number;
  /** Calls that start before it; of 10,000 and more, "at least". */
  readonly ahead: number;
  readonly isAtLeast: boolean;
  /** What it takes turns with: nothing, calls of other agents, calls at other gates of a project whose slots are taken; or its session. */
  readonly line: "one" | "agents" | "gates" | "session";
}

/** The count of the line in which it stands, and what the line is. */
const lineOf = ({ session, pin, gate, lane, last_lane }: StandingRow): readonly [Statement, ...string[]] => {
  if (gate !== null) return [COUNT_GATED, lane, gate, last_lane];
  if (session !== null) return [COUNT_OF_SESSION, session];
  return pin === null ? [COUNT_FREE, lane] : [COUNT_OF_PIN, pin];
};

/** One of each gate in turn. Pure. */
const planOtherGates = (place: number, waiting: readonly number[]): number =>
  waiting.reduce((sum, calls) => sum + Math.min(calls, place), 0);

export const readQueuePlace = async (
  db: Queryer,
  { projectId, toolCallId }: CallKey,
): Promise<QueuePlace | undefined> => {
  const [standing] = await db.query<StandingRow>(READ_STANDING, [projectId, toolCallId]);
  if (standing === undefined) return undefined;
  const { target, available_at: availableAt, gate, session } = standing;
  const [statement, ...line] = lineOf(standing);
  const [found] = await db.query<BeforeRow>(statement, [projectId, target, availableAt, toolCallId, ...line]);
  const { before, others } = found ?? { before: 0, others: 0 };
  const gates = standing.project_full
    ? (await db.query<{ waiting: number }>(COUNT_OTHER_GATES, [projectId, target, gate])).map(({ waiting }) => waiting)
    : [];
  const elsewhere = planOtherGates(before + others + 1, gates);
  const inLine = session !== null && gate === null ? "session" : others > 0 ? "agents" : "one";
  return {
    running: standing.running,
    ahead: before + others + elsewhere,
    isAtLeast: [before, others, ...gates].some((count) => count >= MOST_COUNTED),
    line: elsewhere > 0 ? "gates" : inLine,
  };
};
