// What becomes of an agent's inbox rows, given its head. Pure; the resume table of the protocol in one place.
//
// | row                                   | head                       | what becomes of it                                |
// |---------------------------------------|----------------------------|---------------------------------------------------|
// | any, unreadable or with control fields| -                          | error (7.5 row 0)                                 |
// | result                                | none                       | tried again, then error (row 2)                   |
// | result of another turn or epoch       | -                          | consumed (row 3)                                  |
// | result                                | running                    | waits until the turn suspends (row 4, W-11);      |
// |                                       |                            | consumed when the turn made no such call (row 15) |
// | result                                | idle, dispatched           | consumed (row 5)                                  |
// | result of a call no turn waits for    | suspended                  | consumed (rows 15, 16, 21)                        |
// | result whose card cannot be read      | suspended                  | tried again, then the turn fails (row 12)         |
// | result                                | suspended                  | applied and consumed (rows 22 - 24)               |
// | work (turn, ui_action, continuation)  | dispatched or running in it| taken under a claim, or left for another worker   |
// | work of another turn or epoch         | -                          | skipped                                           |
//
// Rows 1, 6 - 11, 13 and 17 - 19 cannot occur: a result exists only as the result of a call row, and settling has checked
// its card, its call, its step and its words. Row 14 is decided at the settlement, row 20 is a channel of its own.

import { isToolplaneError } from "@toolplane/protocol";
import { replay } from "@toolplane/protocol/agents";
import type { Ids } from "../ports/ids.ts";
import { inboxChange } from "./plan-head.ts";
import { isAnswered, type WaitedCall } from "./plan-resume.ts";
import type { HeadRow } from "./turn-row.ts";
import type { InboxChange } from "./turn-write-rows.sql.ts";

export interface LiveRow {
  readonly ord: number;
  readonly inbox_id: string;
  readonly message_type: string;
  readonly correlation_id: string;
  readonly agent_turn_id: string;
  readonly turn_epoch: number;
  readonly channel_id: string;
  readonly context_headers: string;
  readonly payload: string;
  readonly status: string;
  readonly claim_id: string | null;
  readonly retry_count: number;
  readonly created_ms: number;
}

export interface InboxPlan {
  readonly changes: readonly InboxChange[];
  /** The one row that leads to thinking, if it is due. */
  readonly work: LiveRow | undefined;
  /** A result could not be read as often as it is tried. */
  readonly exhausted: boolean;
}

export const RESULTS: ReadonlySet<string> = new Set(["tool_result", "timeout"]);
const WORK: ReadonlySet<string> = new Set(["turn", "ui_action", "continuation"]);

const MAX_RETRIES = 3;
const NO_HEAD_SECONDS = 2;
const RUNNING_SECONDS = 1;
const NO_CARD_SECONDS = 1.5;

export const replayFault = (
  agent: { projectId: string; agentId: string },
  row: LiveRow,
  ids: Ids,
): string | undefined => {
  try {
    replay(
      {
        inboxId: row.inbox_id,
        messageType: row.message_type,
        projectId: agent.projectId,
        agentId: agent.agentId,
        channelId: row.channel_id,
        agentTurnId: row.agent_turn_id,
        turnEpoch: row.turn_epoch,
        correlationId: row.correlation_id,
        contextHeaders: row.context_headers,
        payload: JSON.parse(row.payload),
      },
      ids,
    );
    return undefined;
  } catch (error) {
    return isToolplaneError(error) ? error.message : "the row's payload is not JSON";
  }
};

type Verdict = Pick<InboxChange, "status"> & Partial<InboxChange>;

const CONSUMED: Verdict = { status: "consumed" };

const retry = (row: LiveRow, seconds: number, reason: string, bound: number | undefined): Verdict =>
  bound !== undefined && row.retry_count >= bound
    ? { status: "error", reason, error: "resume_retry_exhausted" }
    : { status: "deferred", retries: 1, delaySeconds: seconds, reason };

const planResult = (row: LiveRow, head: HeadRow | undefined, calls: readonly WaitedCall[]): Verdict => {
  if (head === undefined) return retry(row, NO_HEAD_SECONDS, "state_not_found", MAX_RETRIES);
  if (head.active_agent_turn_id !== row.agent_turn_id || head.turn_epoch !== row.turn_epoch) return CONSUMED;
  const call = calls.find(({ tool_call_id }) => tool_call_id === row.correlation_id);
  if (head.status === "running")
    return call === undefined ? CONSUMED : retry(row, RUNNING_SECONDS, "turn_running_not_suspended", undefined);
  if (head.status !== "suspended") return CONSUMED;
  if (call === undefined || call.applied || isAnswered(call)) return CONSUMED;
  return retry(row, NO_CARD_SECONDS, "tool_result_card_not_found", MAX_RETRIES);
};

const isCurrentWork = (row: LiveRow, head: HeadRow | undefined): boolean =>
  head !== undefined &&
  head.active_agent_turn_id === row.agent_turn_id &&
  head.turn_epoch === row.turn_epoch &&
  (head.status === "dispatched" || head.status === "running");

export const planInbox = (
  agent: { readonly projectId: string; readonly agentId: string },
  head: HeadRow | undefined,
  rows: readonly LiveRow[],
  calls: readonly WaitedCall[],
  ids: Ids,
): InboxPlan => {
  const changes: InboxChange[] = [];
  let work: LiveRow | undefined;
  let exhausted = false;
  for (const row of rows) {
    const key = { projectId: agent.projectId, inboxId: row.inbox_id };
    const fault = replayFault(agent, row, ids);
    if (fault !== undefined) changes.push(inboxChange(key, { status: "error", error: fault }));
    else if (RESULTS.has(row.message_type)) {
      const verdict = planResult(row, head, calls);
      exhausted ||= verdict.reason === "tool_result_card_not_found" && verdict.status === "error";
      changes.push(inboxChange(key, verdict));
    } else if (!WORK.has(row.message_type))
      changes.push(
        inboxChange(key, { status: "error", error: `a message of type ${row.message_type} is not for agents` }),
      );
    else if (work === undefined && isCurrentWork(row, head)) work = row;
    else changes.push(inboxChange(key, { status: "skipped", reason: "not_current" }));
  }
  return { changes, work, exhausted };
};
