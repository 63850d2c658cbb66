// Approvals: a person says yes or no to a call of a tool with `approval: required`, or with `approval: external` and arguments that
// derive from cards of external trust.
//   AP1. A call has exactly one decision, the first. The same decision again is answered with the first; the opposite is `conflict`.
//   AP2. The decision is a card under an id derived from the call's, written in the transaction that moves the call (I7). The
//       call remembers the card's hash: its turn's chain links the decision before the result. Retention removes both.
//   AP3. A denied call was never in a queue, so no service can have run it. It settles failed `approval_denied` with the reason,
//       which is what the model is told.
//   AP4. The database's clock decides: a call whose time to be approved is over cannot be approved, even before a watchdog ended it.

import { type Card, isRecord, resolveOptions, storableText, ToolplaneError } from "@toolplane/protocol";
import { type Actor, reasonIn, recordActs } from "../audit/audit.ts";
import { type CallKey, type CallStatus, type CallView, isSettled } from "../calls/call.ts";
import type { Calls } from "../calls/calls.ts";
import { ENGINE_ACTOR } from "../calls/cancel.ts";
import { commandPayloadText } from "../calls/plan-call.ts";
import { engineFailure } from "../calls/plan-settlement.ts";
import type { Settlements } from "../calls/settlements.ts";
import type { CardStore } from "../cards/card-store.ts";
import { prepareCard } from "../cards/prepare-card.ts";
import { readInPieces } from "../coalescer/in-pieces.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Ground } from "../ports/ground.ts";
import type { Definitions } from "../registry/definition-cache.ts";
import { type Page, type PageRequest, parsePage, toPage } from "../registry/page.ts";
import type { Queryer } from "../sql/database.ts";
import { APPROVE, LIST_WAITING, NOTE_DENIAL, type WaitingRow } from "./approvals.sql.ts";

export type Verdict = "approved" | "denied";

export interface DecideRequest extends CallKey {
  /** Who decides; shown to the caller and kept with the call. */
  readonly by: string;
  readonly reason?: string | undefined;
  /** The person recorded for it. */
  readonly actor?: Actor | undefined;
}

export interface Decision {
  readonly verdict: Verdict;
  readonly by: string;
  readonly reason: string | null;
  readonly decidedAt: string;
  /** Where the call is now. */
  readonly status: CallStatus;
  /** The same decision had been made before. */
  readonly idempotent: boolean;
}

export interface WaitingCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly toolVersion: number;
  /** Its `tool.call` card: the arguments as they would run, layered, without secret values. */
  readonly card: Pick<Card, "content" | "metadata">;
  readonly callCardId: string;
  readonly askedAt: string;
  readonly expiresAt: string;
}

export interface Approvals {
  approve(request: DecideRequest): Promise<Decision>;
  deny(request: DecideRequest): Promise<Decision>;
  /** What waits for a person, longest first. */
  list(projectId: string, page?: PageRequest): Promise<Page<WaitingCall>>;
  /** The decision about a call, if there was one. */
  find(key: CallKey): Promise<Omit<Decision, "status" | "idempotent"> | undefined>;
}

export interface ApprovalsDeps extends Pick<Ground, "db" | "doorbell" | "faults" | "clock" | "sha256"> {
  readonly calls: Pick<Calls, "get">;
  readonly settlements: Settlements;
  readonly cards: Pick<CardStore, "putCards" | "getCards">;
  readonly definitions: Pick<Definitions, "resolveVersion">;
  readonly observe: CallObserver;
  readonly republishSeconds: number | null;
}

const CARD_TYPE = "call.approval";
const MAX_TEXT = 500;

const cardIdOf = (toolCallId: string): string => `approval_${toolCallId}`;

/** Without NUL characters: a name of only NULs counts as empty. */
const clean = (text: string): string => storableText(text.replaceAll("\u0000", ""), MAX_TEXT).trim();

const decisionCard = (view: CallView, request: DecideRequest, verdict: Verdict, now: string): Card => ({
  card_id: cardIdOf(view.toolCallId),
  project_id: view.projectId,
  type: CARD_TYPE,
  content: {
    __type__: "JsonContent",
    data: { verdict, by: clean(request.by), reason: clean(request.reason ?? "") || null, decided_at: now },
  },
  created_at: now,
  author_id: ENGINE_ACTOR,
  metadata: { tool_call_id: view.toolCallId, agent_turn_id: view.agentTurnId, step_id: view.stepId },
  tool_calls: null,
  tool_call_id: null,
  ttl_seconds: null,
});

const readDecision = (card: Card | undefined): Omit<Decision, "status" | "idempotent"> | undefined => {
  const data = card?.content.__type__ === "JsonContent" ? card.content.data : undefined;
  if (!isRecord(data)) return undefined;
  return {
    verdict: data.verdict as Verdict,
    by: String(data.by),
    reason: typeof data.reason === "string" ? data.reason : null,
    decidedAt: String(data.decided_at),
  };
};

const waitingOf = (row: WaitingRow): WaitingCall => ({
  toolCallId: row.tool_call_id,
  toolName: row.tool_name,
  agentId: row.agent_id,
  agentTurnId: row.agent_turn_id,
  toolVersion: row.tool_version,
  // The card was checked when it was written: checking a large one again takes longer than reading it.
  card: JSON.parse(row.call_body) as Card,
  callCardId: row.call_card_id,
  askedAt: row.created_at.toISOString(),
  expiresAt: row.queue_deadline.toISOString(),
});

const refusal = (view: CallView): ToolplaneError => {
  if (view.errorCode === "approval_expired" || view.status === "awaiting_approval")
    return new ToolplaneError(
      "approval_expired",
      `the time to decide about ${view.toolName} is over; it was not executed`,
    );
  return new ToolplaneError(
    "conflict",
    isSettled(view.status)
      ? `call ${view.toolCallId} is over (${view.status}); there is nothing to decide`
      : `call ${view.toolCallId} does not wait for approval: it is ${view.status}`,
    { detail: { status: view.status } },
  );
};

export const createApprovals = (deps: ApprovalsDeps): Approvals => {
  const { db, faults } = deps;

  const find: Approvals["find"] = async ({ projectId, toolCallId }) => {
    const [card] = await deps.cards.getCards(projectId, [cardIdOf(toolCallId)]);
    return readDecision(card);
  };

  /** Moves the call out of the waiting room, or says that another request has moved it. */
  const offer = async (tx: Queryer, view: CallView, approvalHash: string): Promise<boolean> => {
    const pinned = await deps.definitions.resolveVersion(view.projectId, view.toolName, view.toolVersion);
    const { queueTimeoutSeconds } = resolveOptions(pinned?.definition.options ?? {});
    const payload =
      deps.republishSeconds === null ? null : commandPayloadText(view.callCardId, view.toolName, view.afterExecution);
    const rows = await tx.query(APPROVE, [
      view.projectId,
      view.toolCallId,
      queueTimeoutSeconds,
      payload,
      deps.republishSeconds,
      approvalHash,
    ]);
    return rows.length > 0;
  };

  const refuse = async (
    tx: Queryer,
    view: CallView,
    request: DecideRequest,
    approvalHash: string,
  ): Promise<boolean> => {
    await tx.query(NOTE_DENIAL, [view.projectId, view.toolCallId, approvalHash]);
    const by = clean(request.by);
    const reason = clean(request.reason ?? "");
    const message = `${by} denied ${view.toolName}${reason === "" ? "" : `: ${reason}`}; it was not executed`;
    const error = new ToolplaneError("approval_denied", message, {
      detail: { by, ...(reason === "" ? {} : { reason }) },
    });
    const planned = deps.settlements.plan({
      facts: view,
      mode: "deny",
      leaseId: null,
      actorId: ENGINE_ACTOR,
      messageType: "tool_result",
      outcome: { given: engineFailure("failed", error, "worker") },
    });
    return (await deps.settlements.within(tx, [planned])).has(planned);
  };

  const announceApproved = (view: CallView): void => {
    deps.observe({ ...view, status: "queued" });
    // The bell that also says that it may belong to a session or be pinned.
    deps.doorbell.ring("sessions");
    deps.doorbell.ring("events", "here");
    if (deps.republishSeconds !== null) deps.doorbell.ring("messages");
  };

  const decide = async (request: DecideRequest, verdict: Verdict): Promise<Decision> => {
    if (clean(request.by) === "") throw new ToolplaneError("bad_request", "a decision names who made it");
    const view = await deps.calls.get(request);
    const now = new Date(deps.clock.now()).toISOString();
    const card = decisionCard(view, request, verdict, now);
    const { hash } = prepareCard(card, { projectId: view.projectId, ...deps });
    const moved =
      view.status === "awaiting_approval" &&
      (await db.transaction(async (tx) => {
        const won = verdict === "approved" ? await offer(tx, view, hash) : await refuse(tx, view, request, hash);
        if (won) {
          await deps.cards.putCards(view.projectId, [card], { tx });
          const act = verdict === "approved" ? "call.approved" : "call.denied";
          const detail = { tool_name: view.toolName, by: clean(request.by), ...reasonIn(request.reason) };
          await recordActs(tx, request.actor, [{ projectId: view.projectId, act, subject: view.toolCallId, detail }]);
        }
        await faults.at("approve:before-commit");
        return won;
      }));
    await faults.at("approve:after-commit");
    if (moved && verdict === "approved") announceApproved(view);
    const made = await find(request);
    const { status } = await deps.calls.get(request);
    if (made === undefined) throw refusal({ ...view, status });
    if (made.verdict !== verdict)
      throw new ToolplaneError(
        "conflict",
        `call ${view.toolCallId} was ${made.verdict} by ${made.by}; the first decision counts`,
        {
          detail: { verdict: made.verdict, by: made.by },
        },
      );
    return { ...made, status, idempotent: !moved };
  };

  return {
    approve: (request) => decide(request, "approved"),
    deny: (request) => decide(request, "denied"),
    find,
    async list(projectId, request) {
      const page = parsePage(request ?? {});
      const rows = await db.query<WaitingRow>(LIST_WAITING, [projectId, page.after, page.limit + 1]);
      const shown = toPage(
        rows,
        page,
        (row) => row.tool_call_id,
        (row) => row,
      );
      return { ...shown, items: await readInPieces(shown.items, (row) => row.call_body.length, waitingOf) };
    },
  };
};
