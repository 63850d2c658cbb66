// Cancels the calls of a project that wait, many at once: what an operator needs after a flood. A page reads the next calls by their ids and
// hands them to the cancel of single calls, which settles and audits them in sets. Calls made after the first page are left alone, so the
// pages end even while new calls come.

import { ToolplaneError } from "@toolplane/protocol";
import type { Actor } from "../audit/audit.ts";
import { isPossibleId } from "../cards/possible-id.ts";
import type { Clock } from "../ports/clock.ts";
import { cursorOf, keyOfCursor } from "../registry/page.ts";
import type { Queryer } from "../sql/database.ts";
import type { Canceled, CancelRequest } from "./cancel.ts";
import { LIST_WAITING } from "./list-calls.sql.ts";

export interface CancelWaiting {
  readonly projectId: string;
  readonly toolName?: string | undefined;
  readonly target?: string | undefined;
  readonly agentId?: string | undefined;
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
  readonly actor?: Actor | undefined;
}

export interface CanceledPage {
  /** How many calls this page has ended; a call that ended by itself meanwhile does not count. */
  readonly canceled: number;
  /** Undefined after the last page. */
  readonly nextCursor: string | undefined;
}

/** About a second of work: a request that ends thousands would hold up the calls of others. */
export const MAX_CANCELED = 1_000;

/** When the first page was asked for, and the last call of the page before. */
const parsePlace = (cursor: string | undefined, now: number): { readonly untilMs: number; readonly after: string } => {
  if (cursor === undefined) return { untilMs: now, after: "" };
  const [time = "", after = "", ...rest] = keyOfCursor(cursor).split(" ");
  const untilMs = Number(time);
  if (!Number.isSafeInteger(untilMs) || untilMs < 0 || after === "" || rest.length > 0)
    throw new ToolplaneError("bad_request", "the cursor is not one of this request; leave it out to begin again");
  return { untilMs: Math.min(untilMs, now), after };
};

export const createCancelWaiting =
  (deps: {
    readonly db: Queryer;
    readonly clock: Clock;
    readonly cancel: (request: CancelRequest) => Promise<Canceled>;
  }) =>
  async ({ cursor, ...asked }: CancelWaiting): Promise<CanceledPage> => {
    const { projectId, toolName, target, agentId, reason, by, actor, limit = MAX_CANCELED } = asked;
    const { untilMs, after } = parsePlace(cursor, deps.clock.now());
    const names = [projectId, toolName, target, agentId].filter((name) => name !== undefined);
    if (!names.every(isPossibleId)) return { canceled: 0, nextCursor: undefined };
    const values = [projectId, after, limit, untilMs, toolName ?? null, target ?? null, agentId ?? null];
    const rows = await deps.db.query<{ readonly tool_call_id: string }>(LIST_WAITING, values);
    const ended = await Promise.all(
      rows.map((row) => deps.cancel({ projectId, toolCallId: row.tool_call_id, reason, by, actor })),
    );
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      canceled: ended.filter(({ canceled }) => canceled).length,
      nextCursor: last && cursorOf(`${untilMs} ${last.tool_call_id}`),
    };
  };
