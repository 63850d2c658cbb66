// Dispatch-next: the oldest waiting turn gets its agent's head, in the transaction that found the head idle or made it idle. A
// row that cannot run ends its turn with the reason, and the next one is tried.

import { isFilled, isRecord, isToolplaneError } from "@toolplane/protocol";
import { FALLBACK_SOURCES, replay } from "@toolplane/protocol/agents";
import { closeLedger, type LedgerMeans, openLedger } from "./ledger.ts";
import { planEnd } from "./plan-end.ts";
import { headInTurn, idleHead, inboxChange, turnGoesOn } from "./plan-head.ts";
import type { TurnEnd } from "./turn.ts";
import { stateEvent, wakeupOf } from "./turn-messages.ts";
import { chainOfTurn, type HeadRow, parseDocument, type QueuedRow } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { createTurnWrites } from "./turn-writes.ts";

export interface Dispatch {
  readonly writes: TurnWrites;
  readonly dispatched: { readonly agentTurnId: string; readonly epoch: number } | undefined;
  /** Turns that could not run. */
  readonly ended: readonly TurnEnd[];
}

const BOXES = ["profile_box_id", "context_box_id", "output_box_id"] as const;

interface Fault {
  readonly code: string;
  readonly message: string;
}

const faultOf = (row: QueuedRow, means: LedgerMeans): Fault | undefined => {
  let payload: unknown;
  try {
    payload = parseDocument(row.inbox_payload);
  } catch {
    return { code: "invalid_payload_json", message: "the turn's payload is not JSON" };
  }
  if (!isRecord(payload)) return { code: "invalid_payload_type", message: "the turn's payload is JSON but no object" };
  try {
    const replayed = replay(
      {
        inboxId: row.inbox_id,
        messageType: row.kind,
        projectId: row.project_id,
        agentId: row.agent_id,
        channelId: row.channel_id,
        agentTurnId: row.agent_turn_id,
        turnEpoch: 0,
        correlationId: row.correlation_id,
        contextHeaders: row.context_headers,
        payload,
      },
      means.ids,
    );
    const missing = BOXES.filter((name) => !isFilled(replayed.payload[name]));
    if (missing.length > 0) return { code: "missing_required_fields", message: `the turn lacks ${missing.join(", ")}` };
    return undefined;
  } catch (error) {
    return { code: "invalid_context", message: isToolplaneError(error) ? error.message : "the turn's row is damaged" };
  }
};

const endUnrunnable = (row: QueuedRow, fault: Fault, writes: TurnWrites[], means: LedgerMeans): TurnEnd => {
  const ledger = openLedger(row, chainOfTurn(row, means.sha256));
  const end = planEnd(
    ledger,
    {
      status: "failed",
      error: fault.message,
      errorCode: fault.code,
      deliverable: {
        source: FALLBACK_SOURCES.watchdog,
        headline: "the turn could not be started",
        reason: fault.code,
        facts: { ord: 0, results: 0, thought: null, deliverable_card_id: null },
      },
      stepCount: row.step_count,
    },
    0,
    means,
  );
  ledger.writes.changes.push(
    inboxChange(
      { projectId: row.project_id, inboxId: row.inbox_id },
      { status: "error", reason: fault.code, error: fault.message },
    ),
  );
  writes.push(closeLedger(ledger));
  return end;
};

/**
 * For a head that is idle, or is about to be: `epoch` is the one it has then. Without a turn for it, the head becomes idle only
 * if `toIdle` says so.
 */
export const planDispatch = (
  head: HeadRow,
  epoch: number,
  queue: readonly QueuedRow[],
  means: LedgerMeans,
  toIdle?: { readonly lastOutputBoxId: string | null },
): Dispatch & { readonly parts: readonly TurnWrites[] } => {
  const writes = createTurnWrites();
  const parts: TurnWrites[] = [writes];
  const ended: TurnEnd[] = [];
  for (const turn of queue) {
    const fault = faultOf(turn, means);
    if (fault !== undefined) {
      ended.push(endUnrunnable(turn, fault, parts, means));
      continue;
    }
    const next = epoch + 1;
    writes.heads.push(
      headInTurn(turn, {
        status: "dispatched",
        epoch: next,
        waiting: 0,
        chain: undefined,
        lastOutputBoxId: toIdle?.lastOutputBoxId ?? undefined,
      }),
    );
    writes.turns.push(turnGoesOn(turn, next, { dispatched: true }));
    writes.changes.push(
      inboxChange({ projectId: turn.project_id, inboxId: turn.inbox_id }, { status: "pending", turnEpoch: next }),
    );
    writes.messages.push(stateEvent(turn, { status: "dispatched", epoch: next }, means));
    writes.wakeups.push(wakeupOf(turn, next, { inboxId: turn.inbox_id, reason: "dispatch_next" }, means));
    return { writes, parts, dispatched: { agentTurnId: turn.agent_turn_id, epoch: next }, ended };
  }
  if (toIdle !== undefined) writes.heads.push(idleHead(head, epoch, toIdle.lastOutputBoxId));
  return { writes, parts, dispatched: undefined, ended };
};
