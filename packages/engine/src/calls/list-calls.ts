// Lists of calls: the filter that leads to the fewest rows chooses the statement, the others are applied to what it finds.

import { ToolplaneError } from "@toolplane/protocol";
import { isPossibleId } from "../cards/possible-id.ts";
import { parsePage } from "../registry/page.ts";
import type { Queryer, Statement } from "../sql/database.ts";
import type { CallView } from "./call.ts";
import type { CallReads } from "./call-reads.ts";
import {
  LIST_ALL,
  LIST_OF_AGENT,
  LIST_OF_ERROR,
  LIST_OF_KEY,
  LIST_OF_TARGET,
  LIST_OF_TOOL,
  LIST_OF_TRACE,
} from "./list-calls.sql.ts";
import { LIST_CALLS, type ViewRow, viewOf } from "./read.sql.ts";

export interface CallFilter {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
  readonly status?: string | undefined;
  readonly toolName?: string | undefined;
  readonly agentId?: string | undefined;
  /** Calls of the tools that are registered for this target. */
  readonly target?: string | undefined;
  readonly errorCode?: string | undefined;
  /** With `toolName` and `agentId` alone: the one call that has this key. */
  readonly idempotencyKey?: string | undefined;
  /** Not together with other filters than `before` and `limit`. */
  readonly traceId?: string | undefined;
  /** Made at or after, and before, these milliseconds. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

/** A trace id in W3C's form. Calls have no other. */
export const isTraceId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

const MAX_PAGE = 500;
const DEFAULT_PAGE = 100;

const TIME_DIGITS = 12;
const MOST_MS = 2 ** 48 - 1;

/** The first id that can be made at this time. */
export const firstIdAt = (ms: number): string =>
  Math.min(Math.max(0, Math.floor(ms)), MOST_MS)
    .toString(16)
    .padStart(TIME_DIGITS, "0");

const least = (...ids: readonly (string | undefined)[]): string | null =>
  ids.filter((id) => id !== undefined).sort()[0] ?? null;

/** The calls of the API itself are most of a busy plane: they have no index of their own, and need none. */
const API_ACTOR = "sys.api";

/** Pure: the statement whose filter leaves the fewest rows; undefined: no filter but the status. */
export const planCallList = (filter: CallFilter): Statement | undefined => {
  const { errorCode, agentId, toolName, target, sinceMs } = filter;
  if (errorCode !== undefined) return LIST_OF_ERROR;
  if (agentId !== undefined && agentId !== API_ACTOR) return LIST_OF_AGENT;
  if (toolName !== undefined) return LIST_OF_TOOL;
  if (target !== undefined) return LIST_OF_TARGET;
  return agentId === undefined && sinceMs === undefined ? undefined : LIST_ALL;
};

const checkTrace = ({ before: _before, limit: _limit, traceId: _trace, ...others }: CallFilter): void => {
  if (Object.values(others).some((value) => value !== undefined))
    throw new ToolplaneError("bad_request", "trace_id is asked for alone: a trace has few calls, leave the others out");
};

const readKeyed = (filter: CallFilter): readonly string[] => {
  const { limit: _limit, idempotencyKey = "", toolName, agentId, ...others } = filter;
  if (toolName === undefined || agentId === undefined || Object.values(others).some((value) => value !== undefined))
    throw new ToolplaneError("bad_request", "idempotency_key is asked for with tool_name, and with agent_id at most");
  return [agentId, toolName, idempotencyKey];
};

export const createCallList =
  (db: Queryer, find: CallReads["find"]) =>
  async (projectId: string, filter: CallFilter = {}): Promise<readonly CallView[]> => {
    const { limit } = parsePage({ limit: Math.min(filter.limit ?? DEFAULT_PAGE, MAX_PAGE) });
    const { status = null, toolName = null, agentId = null, target = null, errorCode = null, traceId } = filter;
    const asked = [projectId, toolName, agentId, target, errorCode, traceId].filter((id) => typeof id === "string");
    if (!asked.every(isPossibleId)) return [];
    const { sinceMs, untilMs } = filter;
    const until = untilMs === undefined ? undefined : firstIdAt(untilMs);
    const before = least(filter.before, until);
    const readIds = async (statement: Statement, values: readonly unknown[]): Promise<readonly CallView[]> => {
      const rows = await db.query<{ readonly tool_call_id: string }>(statement, values);
      return find(rows.map((row) => ({ projectId, toolCallId: row.tool_call_id })));
    };
    if (traceId !== undefined) {
      checkTrace(filter);
      if (!isTraceId(traceId)) return [];
      return readIds(LIST_OF_TRACE, [projectId, before, limit, traceId]);
    }
    if (filter.idempotencyKey !== undefined) {
      const key = readKeyed(filter);
      return key.every(isPossibleId) ? readIds(LIST_OF_KEY, [projectId, ...key]) : [];
    }
    const statement = planCallList(filter);
    if (statement === undefined)
      return (await db.query<ViewRow>(LIST_CALLS, [projectId, before, limit, status, null, null])).map(viewOf);
    const from = sinceMs === undefined ? null : firstIdAt(sinceMs);
    return readIds(statement, [projectId, before, limit, from, status, toolName, agentId, target, errorCode]);
  };
