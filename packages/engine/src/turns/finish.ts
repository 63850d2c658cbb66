// Finish: the turn ends. One deliverable, one task event (I10), the head idle or already with the next turn.
//   An end by the agent's own tool passes the terminal guard first.
//   A worker that ended the turn and lost the answer asks again and gets what was written (T4).

import { CARD_TYPES, isToolplaneError, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { FALLBACK_SOURCES } from "@toolplane/protocol/agents";
import { roughBytes } from "../coalescer/rough-bytes.ts";
import type { Queryer, Transaction } from "../sql/database.ts";
import { claimLost, type HeldWork, holdWork } from "./claimed-work.ts";
import { failSteps } from "./fail-steps.ts";
import { announce, createHeadCoalescer, type Done, meansOf, type TurnDeps } from "./held-heads.ts";
import type { KeptRow } from "./hold.sql.ts";
import type { KnownAgents } from "./known-agents.ts";
import { type KnownWork, tryTogether } from "./known-work.ts";
import { closeLedger, type Ledger, type LedgerMeans, mergeWrites, openLedger, sayCard } from "./ledger.ts";
import { planDispatch } from "./plan-dispatch.ts";
import { type Ending, type EndingRow, planEnd } from "./plan-end.ts";
import { headIdle, inboxChange } from "./plan-head.ts";
import { isCall } from "./plan-step.ts";
import { stepOf } from "./step-row.ts";
import { inboxNotEmpty, readGuards } from "./terminal-guard.ts";
import type { AgentKey, EndedKey, EndNews, TurnEnd, TurnFinish, Work } from "./turn.ts";
import { stateEvent, stepEvent } from "./turn-messages.ts";
import { viewOfEnd } from "./turn-reads.ts";
import { chainOfHead, type HeadRow, type TurnRow } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import {
  commitTurns,
  createTurnWrites,
  errorText,
  storableJson,
  type Written,
  writePart,
  writtenOf,
} from "./turn-writes.ts";
import { bindTurns, READ_ENDINGS } from "./turns.sql.ts";

interface FinishItem extends AgentKey {
  readonly work: Work;
  readonly end: TurnFinish;
}

type Outcome = TurnEnd | Error | "locked";

interface PlannedEnd {
  readonly end: TurnEnd;
  readonly parts: readonly TurnWrites[];
  /** The turns that end with it, given the time of the transaction. */
  readonly endedAt: (nowMs: number) => readonly EndedKey[];
  /** The head without a turn; undefined when the next turn has it. */
  readonly idle: HeadRow | undefined;
}

interface Finished extends Done, Written {
  readonly outcomes: readonly Outcome[];
  readonly idle: readonly HeadRow[];
}

export interface FinishDeps extends TurnDeps {
  readonly known: KnownWork;
  readonly agents: KnownAgents;
}

const MAX_FLUSH_BYTES = 4 * 1024 * 1024;

const checkFinish = ({ entries = [], deliverable }: TurnFinish): void => {
  if (entries.some(isCall))
    throw new ToolplaneError("bad_request", "a turn that ends asks for no more calls: commit them as a step instead");
  const delivered = entries.filter((entry) => !isCall(entry) && entry.card.type === CARD_TYPES.taskDeliverable).length;
  if (delivered + (deliverable === undefined ? 0 : 1) > 1)
    throw new ToolplaneError("bad_request", "a turn has one deliverable: give it once");
};

const endedBefore = (turn: TurnRow): TurnEnd => ({
  projectId: turn.project_id,
  agentTurnId: turn.agent_turn_id,
  agentId: turn.agent_id,
  correlationId: turn.correlation_id,
  status: turn.status as TurnEnd["status"],
  deliverableCardId: turn.deliverable_card_id ?? "",
  outputBoxId: turn.output_box_id,
  error: turn.error,
  errorCode: turn.error_code,
});

const newsOf = (turn: TurnRow, nowMs: number, end: TurnEnd, { writes }: Ledger): EndNews | undefined => {
  const written = writes.turns.find(({ agentTurnId }) => agentTurnId === end.agentTurnId);
  const card = writes.cards.find(({ cardId }) => cardId === end.deliverableCardId);
  return written && { turn: viewOfEnd(turn, written, nowMs), deliverable: card?.body };
};

export const createFinish = (deps: FinishDeps) => {
  const endingOf = (item: FinishItem, held: HeldWork, facts: EndingRow | undefined): Ending => {
    const { end, work } = item;
    const said = (end.entries ?? []).flatMap((entry) =>
      !isCall(entry) && entry.card.type === CARD_TYPES.taskDeliverable ? [entry.card.card_id] : [],
    );
    const found = said[0] ?? facts?.deliverable_card_id ?? undefined;
    const deliverable: Ending["deliverable"] =
      end.deliverable !== undefined
        ? { body: end.deliverable }
        : found !== undefined
          ? { cardId: found }
          : {
              source: end.status === "success" ? FALLBACK_SOURCES.terminal : FALLBACK_SOURCES.partial,
              headline: end.status === "success" ? "the turn ended without a deliverable" : "the turn ended early",
              reason: end.errorCode ?? end.error ?? end.status,
              facts: facts ?? { ord: 0, results: 0, thought: null, deliverable_card_id: null },
            };
    return {
      status: end.status,
      error: end.error ?? null,
      errorCode: end.errorCode ?? null,
      deliverable,
      stepId: end.stepId,
      stepCount: held.turn.step_count + (end.stepId === undefined || held.turn.step_hash !== null ? 0 : 1),
      stats: end.stats,
      claimId: work.claimId,
      toolResultCardId: end.toolResultCardId,
    };
  };

  const endStep = (ledger: Ledger, held: HeldWork, end: TurnFinish, means: LedgerMeans): void => {
    if (end.stepId === undefined) return;
    const { turn } = ledger;
    const failed = end.status !== "success";
    const metadata = end.metadata === undefined ? undefined : storableJson(end.metadata);
    ledger.writes.steps.push(
      stepOf(turn, {
        stepId: end.stepId,
        status: failed ? "failed" : "completed",
        newCardIds: JSON.stringify(ledger.said),
        error: failed ? errorText(end.error ?? end.errorCode ?? end.status) : null,
        metadata: metadata ?? null,
        ended: true,
      }),
    );
    ledger.writes.messages.push(
      stepEvent(
        turn,
        held.head.turn_epoch,
        {
          stepId: end.stepId,
          phase: failed ? "failed" : "completed",
          metadata: metadata === undefined ? undefined : (JSON.parse(metadata) as JsonObject),
          newCardIds: ledger.said,
        },
        means,
      ),
    );
  };

  const plan = (item: FinishItem, held: HeldWork, facts: EndingRow | undefined, means: LedgerMeans): PlannedEnd => {
    const { turn, head } = held;
    const ledger = openLedger(turn, chainOfHead(head, turn, deps.sha256));
    for (const entry of item.end.entries ?? [])
      if (!isCall(entry)) sayCard(ledger, entry.card, means, entry.show !== false);
    const end = planEnd(ledger, endingOf(item, held, facts), head.turn_epoch, means);
    endStep(ledger, held, item.end, means);
    ledger.writes.changes.push(
      inboxChange({ projectId: turn.project_id, inboxId: item.work.inboxId }, { status: "consumed" }),
    );
    const metadata = end.error === null ? undefined : { error: end.error };
    const idle = { status: "idle" as const, epoch: head.turn_epoch, ...(metadata === undefined ? {} : { metadata }) };
    ledger.writes.messages.push(stateEvent(turn, idle, means));
    const next = planDispatch(head, head.turn_epoch, held.queue, means, { lastOutputBoxId: turn.output_box_id });
    return {
      end,
      parts: [closeLedger(ledger), ...next.parts],
      idle: next.dispatched === undefined ? headIdle(head) : undefined,
      endedAt: (nowMs) => [{ ...end, news: newsOf(turn, nowMs, end, ledger) }, ...next.ended],
    };
  };

  /** Content of one turn that cannot be written fails alone. */
  const tryPlan = (...input: Parameters<typeof plan>): ReturnType<typeof plan> | ToolplaneError => {
    try {
      return plan(...input);
    } catch (error) {
      if (isToolplaneError(error)) return error;
      throw error;
    }
  };

  /** For a turn that ends between its steps: a step that was begun ends too. */
  const endBegunStep = async (tx: Queryer, held: HeldWork, end: TurnEnd, means: LedgerMeans): Promise<TurnWrites> => {
    const reason = end.error ?? "the turn ended before the step did";
    const messages = await failSteps(tx, held.turn, held.head.turn_epoch, reason, means);
    return { ...createTurnWrites(), messages: [...messages] };
  };

  const finishAll = async (tx: Transaction, items: readonly FinishItem[]): Promise<Finished> => {
    const held = await holdWork(
      tx,
      items.map(({ work, end }) => ({ work, stepId: end.stepId })),
      true,
    );
    const current = items.flatMap((item, index) => {
      const one = held[index];
      return one !== undefined && one !== "locked" && one.current ? [{ item, index, held: one }] : [];
    });
    const keys = current.map(({ item: { work } }) => ({ projectId: work.projectId, agentTurnId: work.agentTurnId }));
    const wanting = current.some(({ item }) => item.end.deliverable === undefined);
    const facts = wanting ? await tx.query<EndingRow>(READ_ENDINGS, bindTurns(keys)) : [];
    const factsOf = new Map(facts.map((row) => [row.ord, row]));
    const means = meansOf(deps);
    const outcomes: Outcome[] = items.map((item, index) => {
      const one = held[index];
      if (one === "locked") return "locked";
      if (one !== undefined && !one.current && one.turn.end_claim_id === item.work.claimId)
        return endedBefore(one.turn);
      return claimLost(item.work);
    });
    const parts: TurnWrites[] = [];
    const ended: EndedKey[] = [];
    const idle: HeadRow[] = [];
    const guarded = current.filter(({ item }) => item.end.guard === true);
    const guards = await readGuards(
      tx,
      guarded.map(({ item: { work }, held: { head } }) => ({ head, key: work })),
    );
    for (const [place, { item, index, held: one }] of current.entries()) {
      const guard = guards[guarded.findIndex((other) => other.index === index)];
      if (guard !== undefined && guard.open > 0) {
        outcomes[index] = inboxNotEmpty(guard.open);
        continue;
      }
      if (guard !== undefined) parts.push({ ...createTurnWrites(), changes: [...guard.changes] });
      const planned = tryPlan(item, one, factsOf.get(place + 1), means);
      if (isToolplaneError(planned)) {
        outcomes[index] = planned;
        continue;
      }
      outcomes[index] = planned.end;
      parts.push(...planned.parts);
      if (item.end.stepId === undefined) parts.push(await endBegunStep(tx, one, planned.end, means));
      ended.push(...planned.endedAt(one.head.now_ms));
      if (planned.idle !== undefined) idle.push(planned.idle);
    }
    await deps.faults.at("finish:before-commit");
    const written = await commitTurns(tx, mergeWrites(parts), deps);
    return { outcomes, ended, idle, rang: parts.length > 0, ...written };
  };

  /**
   * The same from memory, in one message; undefined when that cannot be, and nothing was written. Turns without a deliverable of their
   * own, with an end that is guarded, or between two steps need more than is remembered.
   */
  const finishKnown = async (items: readonly FinishItem[]): Promise<Finished | undefined> => {
    if (items.some(({ end }) => end.deliverable === undefined || end.guard === true || end.stepId === undefined))
      return undefined;
    const known = deps.known.recall(items.map(({ work }) => work));
    if (known === undefined) return undefined;
    const means = meansOf(deps);
    const plans = items.map((item, index) => tryPlan(item, known.held[index] as HeldWork, undefined, means));
    const planned = plans.flatMap((plan) => (isToolplaneError(plan) ? [] : [plan]));
    const write = writePart(mergeWrites(planned.flatMap(({ parts }) => parts)), deps);
    if (write === undefined) return undefined;
    await deps.faults.at("finish:before-commit");
    const answers = await tryTogether(deps.db, [known.keep(true), write]);
    if (answers === undefined) return undefined;
    const [kept = [], written = []] = answers;
    const { now_ms: nowMs } = kept[0] as KeptRow;
    return {
      outcomes: plans.map((plan) => (isToolplaneError(plan) ? plan : plan.end)),
      ended: planned.flatMap(({ endedAt }) => endedAt(nowMs)),
      idle: planned.flatMap(({ idle }) => (idle === undefined ? [] : [{ ...idle, now_ms: nowMs }])),
      rang: true,
      ...writtenOf(written),
    };
  };

  const flush = async (items: readonly FinishItem[]): Promise<readonly Outcome[]> => {
    const done = (await finishKnown(items)) ?? (await deps.db.transaction((tx) => finishAll(tx, items)));
    await deps.faults.at("finish:after-commit");
    for (const head of done.idle) deps.agents.idle(head, done.version);
    announce(deps, { ...done, why: "work" });
    return done.outcomes;
  };

  const coalescer = createHeadCoalescer<FinishItem, TurnEnd>(
    { flush, bytesOf: ({ end }) => roughBytes(end, MAX_FLUSH_BYTES), maxBytes: MAX_FLUSH_BYTES, maxItems: 64 },
    deps.clock,
  );
  return {
    coalescer,
    async submit(work: Work, end: TurnFinish): Promise<TurnEnd> {
      checkFinish(end);
      return coalescer.submit({ projectId: work.projectId, agentId: work.agentId, work, end });
    },
  };
};
