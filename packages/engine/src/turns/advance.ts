// Advance: an agent's inbox is drained and its head moved, both or neither (I5).
//   The way of a flush: hold the heads with their rows, turns and awaited calls -> plan each -> one statement. The step that
//   comes with taken work begins in it.
//   Applying the last result and running the turn again are one commit, so no crash can come between them (W-08).

import type { Coalescer } from "../coalescer/coalescer.ts";
import type { Queryer } from "../sql/database.ts";
import {
  applyResults,
  endByTool,
  endUnreadable,
  runAgain,
  stayWaiting,
  takeWork,
  tellWaiting,
  type WorkClaim,
  workOf,
} from "./advance-writes.ts";
import { beginStep } from "./begin-step.ts";
import { announce, createHeadCoalescer, meansOf, type TurnDeps } from "./held-heads.ts";
import { bindHeldAgents, HOLD_AGENTS } from "./hold.sql.ts";
import type { KnownTurn, KnownWork } from "./known-work.ts";
import { closeLedger, type Ledger, type LedgerMeans, mergeWrites, openLedger } from "./ledger.ts";
import { type InboxPlan, type LiveRow, planInbox } from "./plan-advance.ts";
import { planDispatch } from "./plan-dispatch.ts";
import type { EndingRow } from "./plan-end.ts";
import { headAfter } from "./plan-head.ts";
import { planResume, type Resume, type WaitedCall } from "./plan-resume.ts";
import type { Advanced, AdvanceRequest, EndedKey, TurnEnd, Work } from "./turn.ts";
import { wakeupOf } from "./turn-messages.ts";
import { chainOfHead, type HeadRow, type QueuedRow, type TurnRow } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { commitTurns, createTurnWrites } from "./turn-writes.ts";
import { bindAgents, bindTurns, READ_ENDINGS, READ_QUEUED } from "./turns.sql.ts";

const NOTHING: Advanced = { applied: 0, workLeft: false };

/** The caller does not serve this pool, so its work is not left for the caller. */
const isLeft = ({ request, mayTake }: Case): boolean => mayTake || !request.takeWork;

/** A request with the claim it will hold, whichever attempt gets it. */
interface AdvanceItem extends AdvanceRequest {
  readonly claimId: string;
}

type HeldRow = HeadRow & {
  readonly known: boolean;
  readonly steady: boolean;
  readonly worker_target: string | null;
  readonly live: readonly LiveRow[];
  readonly turn: TurnRow | null;
  readonly calls: readonly WaitedCall[] | null;
  /** Of a turn that was taken before: the steps that have begun and not ended. */
  readonly begun_steps: readonly string[] | null;
};

/** One agent's part of a flush, from what was read to what will be written. */
interface Case {
  readonly request: AdvanceItem;
  /** The work may be taken: it was asked for, and the agent belongs to a pool of the caller. */
  readonly mayTake: boolean;
  readonly head: HeadRow | undefined;
  readonly turn: TurnRow | undefined;
  readonly calls: readonly WaitedCall[];
  readonly inbox: InboxPlan;
  readonly resume: Resume | undefined;
  readonly begunSteps: readonly string[];
}

const endsByResume = ({ resume, inbox }: Case): boolean =>
  resume !== undefined &&
  (resume.next.act === "end" || (inbox.exhausted && resume.waiting === resume.unreadable.length));

interface Moved {
  readonly advanced: Advanced;
  readonly parts: readonly TurnWrites[];
  readonly ended: readonly EndedKey[];
  /** Of work that is taken. */
  readonly known?: KnownTurn | undefined;
}

export interface AdvanceDeps extends TurnDeps {
  readonly maxClaims: number;
  readonly known: KnownWork;
}

export const createAdvance = (deps: AdvanceDeps): Coalescer<AdvanceRequest, Advanced> => {
  /** Too many workers have lost it; a watchdog ends it. */
  const isWornOut = (row: LiveRow, claimId: string): boolean =>
    row.status === "processing" && row.claim_id !== claimId && row.retry_count + 1 >= deps.maxClaims;

  const caseOf = (request: AdvanceItem, row: HeldRow): Case => {
    const head = row.known ? row : undefined;
    const turn = row.turn ?? undefined;
    const calls = row.calls ?? [];
    const live = row.live.filter((one) => !isWornOut(one, request.claimId));
    // A head whose turn is not here was not made by a spawn, so it is not touched.
    const inbox: InboxPlan =
      head !== undefined && head.status !== "idle" && turn === undefined
        ? { changes: [], work: undefined, exhausted: false }
        : planInbox(request, head, live, calls, deps.ids);
    const resume = head?.status === "suspended" && turn !== undefined ? planResume(calls) : undefined;
    const { workerTargets } = request;
    const mayTake =
      request.takeWork &&
      (workerTargets === undefined || (row.worker_target !== null && workerTargets.includes(row.worker_target)));
    return { request, mayTake, head, turn, calls, inbox, resume, begunSteps: row.begun_steps ?? [] };
  };

  const readEnds = async (tx: Queryer, cases: readonly Case[]) => {
    const ending = cases.filter(endsByResume);
    const facts = new Map<Case, EndingRow>();
    const queues = new Map<Case, readonly QueuedRow[]>();
    if (ending.length === 0) return { facts, queues };
    const keys = ending.flatMap(({ turn }) =>
      turn === undefined ? [] : [{ projectId: turn.project_id, agentTurnId: turn.agent_turn_id }],
    );
    for (const row of await tx.query<EndingRow>(READ_ENDINGS, bindTurns(keys))) {
      const one = ending[row.ord - 1];
      if (one !== undefined) facts.set(one, row);
    }
    const queued = Map.groupBy(
      await tx.query<QueuedRow & { ord: number }>(READ_QUEUED, bindAgents(ending.map(({ request }) => request))),
      ({ ord }) => ord,
    );
    for (const [index, one] of ending.entries()) queues.set(one, queued.get(index + 1) ?? []);
    return { facts, queues };
  };

  const claimFor = ({ request, mayTake }: Case): WorkClaim | undefined =>
    mayTake
      ? { claimId: request.claimId, claimSeconds: deps.claimSeconds, worker: request.workerId.slice(0, 200) }
      : undefined;

  /** The work as it is taken. If the caller names its step, the step begins, unless an earlier holder of the work has begun it. */
  const begun = ({ request, begunSteps }: Case, ledger: Ledger, work: Work, means: LedgerMeans): Work => {
    const stepId = request.stepOf?.(work);
    if (stepId === undefined) return work;
    if (!begunSteps.includes(stepId)) beginStep(ledger.writes, ledger.turn, work.turnEpoch, stepId, means);
    return { ...work, begunStepId: stepId };
  };

  const moveResumed = (
    one: Case,
    ledger: Ledger,
    head: HeadRow,
    resume: Resume,
    ends: { readonly facts: ReadonlyMap<Case, EndingRow>; readonly queues: ReadonlyMap<Case, readonly QueuedRow[]> },
    means: LedgerMeans,
  ): Moved => {
    const { turn } = ledger;
    applyResults(ledger, resume, means);
    tellWaiting(ledger, head, one.calls, resume, means);
    const applied = resume.apply.length;
    if (endsByResume(one)) {
      const known = ends.facts.get(one) ?? { ord: 0, results: 0, thought: null, deliverable_card_id: null };
      const facts = { ...known, results: known.results + applied };
      const end: TurnEnd =
        resume.next.act === "end"
          ? endByTool(
              ledger,
              head,
              one.calls,
              { content: resume.next.primary, cardId: resume.next.primaryCardId },
              facts,
              means,
            )
          : endUnreadable(ledger, head, one.calls, resume.unreadable, facts, means);
      const toIdle = { lastOutputBoxId: turn.output_box_id };
      const next = planDispatch(head, head.turn_epoch, ends.queues.get(one) ?? [], means, toIdle);
      return {
        advanced: { applied, ended: end, workLeft: next.dispatched !== undefined },
        parts: [closeLedger(ledger), ...next.parts],
        ended: [end, ...next.ended],
      };
    }
    if (resume.next.act === "wait") {
      if (applied > 0 || resume.waiting !== head.waiting_tool_count) stayWaiting(ledger, head, resume);
      return { advanced: { applied, workLeft: false }, parts: [closeLedger(ledger)], ended: [] };
    }
    const claim = claimFor(one);
    const inboxId = `inbox_${deps.ids.uuid()}`;
    const epoch = runAgain(ledger, head, one.calls, { inboxId, claim }, means);
    if (claim === undefined) {
      ledger.writes.wakeups.push(wakeupOf(turn, epoch, { inboxId }, means));
      return { advanced: { applied, workLeft: isLeft(one) }, parts: [closeLedger(ledger)], ended: [] };
    }
    const row = { inboxId, epoch, createdMs: head.now_ms, nowMs: head.now_ms };
    const work = begun(one, ledger, workOf(turn, row, claim), means);
    const known = { head: headAfter(head, turn, epoch, ledger.chain), turn };
    return { advanced: { applied, workLeft: false, work }, parts: [closeLedger(ledger)], ended: [], known };
  };

  const move = (one: Case, ends: Awaited<ReturnType<typeof readEnds>>, means: LedgerMeans): Moved => {
    const { head, turn, inbox, resume } = one;
    const changed = { ...createTurnWrites(), changes: [...inbox.changes] };
    if (head === undefined || turn === undefined) return { advanced: NOTHING, parts: [changed], ended: [] };
    const ledger = openLedger(turn, chainOfHead(head, turn, deps.sha256));
    if (resume !== undefined) {
      const moved = moveResumed(one, ledger, head, resume, ends, means);
      return { ...moved, parts: [changed, ...moved.parts] };
    }
    const claim = claimFor(one);
    if (inbox.work === undefined || claim === undefined)
      return {
        advanced: { applied: 0, workLeft: inbox.work !== undefined && isLeft(one) },
        parts: [changed],
        ended: [],
      };
    takeWork(ledger, head, inbox.work, claim, means);
    const row = {
      inboxId: inbox.work.inbox_id,
      epoch: head.turn_epoch,
      createdMs: inbox.work.created_ms,
      nowMs: head.now_ms,
    };
    const work = begun(one, ledger, workOf(turn, row, claim), means);
    const known = { head: headAfter(head, turn, head.turn_epoch, ledger.chain), turn };
    return { advanced: { applied: 0, workLeft: false, work }, parts: [changed, closeLedger(ledger)], ended: [], known };
  };

  const flush = async (requests: readonly AdvanceItem[]): Promise<readonly (Advanced | "locked")[]> => {
    const done = await deps.db.transaction(async (tx) => {
      const means = meansOf(deps);
      const rows = await tx.query<HeldRow>(HOLD_AGENTS, bindHeldAgents(requests));
      const held = requests.flatMap((request, index) => {
        const row = rows[index];
        return row === undefined || (row.known && !row.steady) ? [] : [{ request, row, index }];
      });
      const cases = held.map(({ request, row }) => caseOf(request, row));
      const ends = await readEnds(tx, cases);
      const moved = cases.map((one) => move(one, ends, means));
      const writes = mergeWrites(moved.flatMap(({ parts }) => parts));
      await deps.faults.at("advance:before-commit");
      const written = await commitTurns(tx, writes, deps);
      const outcomes: (Advanced | "locked")[] = requests.map(() => "locked");
      for (const [place, { index }] of held.entries()) outcomes[index] = moved[place]?.advanced ?? NOTHING;
      const rang = writes.messages.length > 0 || (deps.external && writes.wakeups.length > 0);
      return { outcomes, moved, ended: moved.flatMap(({ ended }) => ended), rang, ...written };
    });
    await deps.faults.at("advance:after-commit");
    for (const { advanced, known } of done.moved)
      if (advanced.work !== undefined && known !== undefined) deps.known.remember(advanced.work, known, done.version);
    announce(deps, { ...done, why: "work" });
    return done.outcomes;
  };

  const coalescer = createHeadCoalescer<AdvanceItem, Advanced>({ flush }, deps.clock);
  return {
    submit: (request) => coalescer.submit({ ...request, claimId: `claim_${deps.ids.uuid()}` }),
    idle: coalescer.idle,
    stats: coalescer.stats,
  };
};
