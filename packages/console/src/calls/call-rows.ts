// The calls of the list: what was listed and what events said since, one row for each call, in the order of their beginning. It is
// bounded: the oldest rows go first. Pure.

import type { CallEvent } from "../events/call-event.ts";

export interface CallRow {
  readonly id: string;
  readonly toolName: string;
  readonly agentId: string;
  readonly turnId: string;
  readonly status: string;
  readonly errorCode: string;
  readonly attempts: number;
  readonly createdAt: string;
  readonly startedAt: string;
  readonly settledAt: string;
}

/** As the API lists a call. */
export interface ListedCall {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly agent_turn_id: string;
  readonly status: string;
  readonly error_code: string | null;
  readonly attempts: number;
  readonly created_at: string | null;
  readonly started_at: string | null;
  readonly settled_at: string | null;
}

export const MOST_ROWS = 5_000;

/** Oldest first; the view turns it around. */
export interface CallRows {
  readonly order: readonly string[];
  readonly byId: ReadonlyMap<string, CallRow>;
}

export const NO_ROWS: CallRows = { order: [], byId: new Map() };

const SETTLED: ReadonlySet<string> = new Set(["settled", "canceled", "dead"]);
const OVER: ReadonlySet<string> = new Set(["success", "failed", "canceled", "timeout", "partial"]);

export const isOver = (status: string): boolean => OVER.has(status);

const rowOf = (call: ListedCall): CallRow => ({
  id: call.tool_call_id,
  toolName: call.tool_name,
  agentId: call.agent_id,
  turnId: call.agent_turn_id,
  status: call.status,
  errorCode: call.error_code ?? "",
  attempts: call.attempts,
  createdAt: call.created_at ?? "",
  startedAt: call.started_at ?? "",
  settledAt: call.settled_at ?? "",
});

const bounded = (order: readonly string[], byId: Map<string, CallRow>): CallRows => {
  if (order.length <= MOST_ROWS) return { order, byId };
  const gone = order.slice(0, order.length - MOST_ROWS);
  for (const id of gone) byId.delete(id);
  return { order: order.slice(-MOST_ROWS), byId };
};

const byBeginning = (a: CallRow, b: CallRow): number =>
  a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1;

/** A list that was asked for wins over what is known, unless the call is known to be over. */
export const addListed = (rows: CallRows, listed: readonly ListedCall[]): CallRows => {
  const byId = new Map(rows.byId);
  for (const call of listed) {
    const known = byId.get(call.tool_call_id);
    const row = rowOf(call);
    byId.set(row.id, known !== undefined && isOver(known.status) && !isOver(row.status) ? known : row);
  }
  const order = [...byId.values()].sort(byBeginning).map(({ id }) => id);
  return bounded(order, byId);
};

const changed = (row: CallRow | undefined, event: CallEvent): CallRow | undefined => {
  // A call that began before what is listed: its beginning is not known.
  const before: CallRow | undefined =
    row ??
    (event.phase === "dispatched"
      ? {
          id: event.toolCallId,
          toolName: event.toolName,
          agentId: event.agentId,
          turnId: event.turnId,
          status: event.status,
          errorCode: "",
          attempts: 0,
          createdAt: event.at,
          startedAt: "",
          settledAt: "",
        }
      : undefined);
  if (before === undefined || isOver(before.status)) return row;
  const status = event.status === "" ? before.status : event.status;
  if (SETTLED.has(event.phase)) return { ...before, status, errorCode: event.errorCode, settledAt: event.at };
  if (event.phase === "leased")
    return { ...before, status, attempts: event.attempt, startedAt: before.startedAt || event.at };
  return { ...before, status };
};

/** What events say; a repeated event changes nothing. */
export const applyEvents = (rows: CallRows, events: readonly CallEvent[]): CallRows => {
  if (events.length === 0) return rows;
  const byId = new Map(rows.byId);
  const fresh: string[] = [];
  for (const event of events) {
    const known = byId.get(event.toolCallId);
    const row = changed(known, event);
    if (row === undefined || row === known) continue;
    if (known === undefined) fresh.push(row.id);
    byId.set(row.id, row);
  }
  return bounded([...rows.order, ...fresh], byId);
};

export interface CallFilter {
  readonly tool: string;
  readonly agent: string;
  readonly status: string;
  readonly error: string;
}

const holds = (text: string, part: string): boolean => part === "" || text.toLowerCase().includes(part.toLowerCase());

export const isOpenFilter = ({ tool, agent, status, error }: CallFilter): boolean =>
  tool === "" && agent === "" && status === "" && error === "";

/** Newest first. An agent is found by its id and by the name it is shown with. */
export const shownRows = (
  { order, byId }: CallRows,
  filter: CallFilter,
  nameOf: (agentId: string) => string = () => "",
): readonly CallRow[] => {
  const shown: CallRow[] = [];
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const row = byId.get(order[at] ?? "");
    if (row === undefined) continue;
    const isShown =
      (filter.status === "" || (filter.status === "open" ? !isOver(row.status) : row.status === filter.status)) &&
      holds(row.toolName, filter.tool) &&
      (holds(row.agentId, filter.agent) || holds(nameOf(row.agentId), filter.agent)) &&
      holds(row.errorCode, filter.error);
    if (isShown) shown.push(row);
  }
  return shown;
};
