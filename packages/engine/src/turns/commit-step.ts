// Commit of a step: its cards, its calls, its events, and the head running -> suspended, in one transaction. When every
// call was refused, or there was none, the head stays running and the work goes on.
//   Only the holder of the claim commits, in the turn's current epoch (T2).
//   A step that was already committed is answered with what was written; another step under its id is refused (T4).
//   I4. The calls become visible in the transaction that suspends the turn: no result can meet the turn running.
//   When a tool's definition was replaced after the step was planned, the definition is read again and the step is planned
//   again; the first plan leaves nothing behind.

import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import type { CallPlaces, Placement } from "../calls/call-places.ts";
import {
  answersOf,
  bindDispatch,
  bindRefusals,
  DISPATCH,
  DISPATCH_ALL,
  type DispatchedRow,
  EXPLAIN_REFUSAL,
  type RefusalRow,
} from "../calls/dispatch.sql.ts";
import { refusalOf } from "../calls/dispatch-outcome.ts";
import type { Coalescer } from "../coalescer/coalescer.ts";
import { roughBytes } from "../coalescer/rough-bytes.ts";
import type { Limits } from "../gates/limits.ts";
import { type QueueLimits, takeQueuePlaces } from "../gates/queue-places.ts";
import type { Definitions } from "../registry/definition-cache.ts";
import { type Checked, finishCheck, LongCheck, withVerdict } from "../registry/schema-checks.ts";
import type { Queryer, Transaction } from "../sql/database.ts";
import { claimLost, type HeldWork, holdWork } from "./claimed-work.ts";
import { announce, createHeadCoalescer, meansOf, type TurnDeps } from "./held-heads.ts";
import { type KnownWork, tryTogether } from "./known-work.ts";
import { closeLedger, type Ledger, mergeWrites, openLedger } from "./ledger.ts";
import { type AskedStep, planCommitted } from "./plan-committed.ts";
import { type CallGround, isCall, noDefinition, planStep, stepHash } from "./plan-step.ts";
import { FullQueues, giveBackCalls, type Planned, placesOf, refuseCalls, UnreadyCalls } from "./refuse-calls.ts";
import { readOutcome } from "./step-outcome.ts";
import { type GuardPlan, inboxNotEmpty, readGuards } from "./terminal-guard.ts";
import type { AgentKey, CommittedStep, StepCommit, Work } from "./turn.ts";
import { chainOfHead } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { commitTurns, type Written, writePart, writtenOf } from "./turn-writes.ts";

export interface CommitDeps extends TurnDeps, Limits {
  readonly definitions: Definitions;
  readonly places: CallPlaces;
  readonly known: KnownWork;
  readonly republishSeconds: number | null;
}

interface CommitItem extends AgentKey, AskedStep {
  /** Checks of arguments that were finished in a thread, by call. */
  readonly checked: ReadonlyMap<object, Checked>;
}

type Outcome = CommittedStep | Error | "locked";

type PlannedItem = Planned & { readonly ledger: Ledger; readonly held: HeldWork };

/** What a try needs besides its steps. `sending`: from here on it may be committed. */
interface Attempt {
  readonly place: CallPlaces["place"];
  readonly limits: QueueLimits;
  readonly sending: () => void;
}

interface Committed {
  readonly outcomes: readonly Outcome[];
  readonly dispatched: readonly DispatchedRow[];
  readonly written: Written;
}

// As for direct calls: batches are capped by bytes, so one large step does not hold up many small ones.
const MAX_FLUSH_BYTES = 4 * 1024 * 1024;
const MAX_FLUSH_ITEMS = 64;
// A definition that changes more often than this within one commit is being changed in a loop.
const MAX_REPLANS = 5;
// Metadata travels in every event of the step.
const MAX_METADATA_BYTES = 64 * 1024;

const anotherStep = (stepId: string): ToolplaneError =>
  new ToolplaneError("conflict", `step ${stepId} was committed with other content; what was written stands`);

const endsTurn = (ground: CallGround): boolean =>
  "pinned" in ground && ground.pinned.definition.after_execution === "terminate";

/** A tool that ends the turn is not called while the inbox holds messages that the turn has not seen. */
const guardGrounds = (grounds: readonly CallGround[], guard: GuardPlan | undefined): readonly CallGround[] =>
  guard === undefined || guard.open === 0
    ? grounds
    : grounds.map((ground) => (endsTurn(ground) ? { refusal: inboxNotEmpty(guard.open) } : ground));

export const createCommitStep = (deps: CommitDeps) => {
  const external = deps.republishSeconds !== null;

  /** Definitions are remembered and read before the heads are held. */
  const groundsOf = async (
    items: readonly CommitItem[],
    refused: ReadonlyMap<string, ToolplaneError>,
  ): Promise<readonly (readonly CallGround[])[]> => {
    const asks = items.flatMap(({ step, projectId }, item) =>
      step.entries
        .filter(isCall)
        .map((entry, call) => ({ projectId, toolName: entry.call.toolName, entry, item, call })),
    );
    const pinned = asks.length === 0 ? [] : await deps.definitions.resolve(asks);
    const broken = await deps.breakers.refusals(
      asks.map(({ projectId }, index) => ({ projectId, definition: pinned[index]?.definition })),
    );
    const grounds: CallGround[][] = items.map(() => []);
    for (const [index, { entry, item, call }] of asks.entries()) {
      const refusal = refused.get(`${item}/${call}`) ?? broken[index];
      const definition = pinned[index];
      if (refusal !== undefined) grounds[item]?.push({ refusal });
      else if (definition === undefined) grounds[item]?.push({ refusal: noDefinition(entry.call) });
      else grounds[item]?.push({ pinned: withVerdict(definition, items[item]?.checked.get(entry.call)) });
    }
    return grounds;
  };

  const dispatchCalls = async (
    tx: Queryer,
    planned: readonly Planned[],
    placement: Placement,
  ): Promise<readonly DispatchedRow[]> => {
    const { rows } = placement;
    if (rows.length === 0) return [];
    await deps.faults.at("commit:before-dispatch");
    const written = answersOf(rows, await tx.query<DispatchedRow>(DISPATCH, bindDispatch(rows, deps.republishSeconds)));
    const made = written.flatMap((row) => (row?.inserted === true ? [row] : []));
    if (made.length === rows.length) return made;
    const places = placesOf(planned).flatMap((place, index) => {
      const row = written[index];
      return row?.inserted === true ? [] : [{ ...place, ready: row !== undefined }];
    });
    throw new UnreadyCalls(places);
  };

  /** QP1. Held from here to the end of the transaction. */
  const holdQueues = async (tx: Queryer, planned: readonly Planned[], limits: QueueLimits): Promise<void> => {
    if (limits.size === 0) return;
    const rows = planned.flatMap(({ plan }) => plan.rows.map(({ row }) => row));
    const verdicts = await takeQueuePlaces(tx, rows, limits);
    if (verdicts.every((verdict) => verdict === "placed")) return;
    const refused = placesOf(planned).flatMap(({ item, call }, index): [string, ToolplaneError][] => {
      const projectId = rows[index]?.projectId ?? "";
      if (verdicts[index] === "placed") return [];
      const canStart = verdicts[index] === "full";
      return [[`${item}/${call}`, deps.admission.queueFull(projectId, limits.get(projectId) ?? 0, canStart)]];
    });
    throw new FullQueues(new Map(refused));
  };

  /** For steps that call a tool which ends the turn: what the inboxes of their agents say about that. */
  const guardsOf = async (
    tx: Queryer,
    items: readonly CommitItem[],
    held: Awaited<ReturnType<typeof holdWork>>,
    grounds: readonly (readonly CallGround[])[],
  ): Promise<ReadonlyMap<number, GuardPlan>> => {
    const ending = items.flatMap((item, index) => {
      const one = held[index];
      if (one === undefined || one === "locked" || !one.current) return [];
      return (grounds[index] ?? []).some(endsTurn) ? [{ index, head: one.head, key: item.work }] : [];
    });
    const plans = await readGuards(tx, ending);
    return new Map(ending.flatMap(({ index }, place) => (plans[place] === undefined ? [] : [[index, plans[place]]])));
  };

  /** What each step writes, from what was held. A step that cannot be written has its outcome already. */
  const planAll = (
    items: readonly CommitItem[],
    grounds: readonly (readonly CallGround[])[],
    held: Awaited<ReturnType<typeof holdWork>>,
    guards: ReadonlyMap<number, GuardPlan>,
  ): { readonly outcomes: Outcome[]; readonly planned: readonly PlannedItem[] } => {
    const outcomes: Outcome[] = [];
    const planned: PlannedItem[] = [];
    for (const [index, item] of items.entries()) {
      const one = held[index];
      if (one === "locked") outcomes[index] = "locked";
      else if (one === undefined) outcomes[index] = claimLost(item.work);
      else if (one.turn.step_outcome !== null)
        outcomes[index] =
          one.turn.step_hash === item.hash ? readOutcome(one.turn.step_outcome) : anotherStep(item.step.stepId);
      else if (!one.current) outcomes[index] = claimLost(item.work);
      else {
        const ledger = openLedger(one.turn, chainOfHead(one.head, one.turn, deps.sha256));
        const guard = guards.get(index);
        if (guard !== undefined) ledger.writes.changes.push(...guard.changes);
        try {
          const means = { ...meansOf(deps), external };
          const allowed = guardGrounds(grounds[index] ?? [], guard);
          const plan = planStep(ledger, item.step, one.head.turn_epoch, allowed, means);
          planned.push({ item: index, plan, ledger, held: one });
        } catch (error) {
          if (!isToolplaneError(error)) throw error;
          outcomes[index] = error;
        }
      }
    }
    return { outcomes, planned };
  };

  /** Fills in the outcomes of the planned steps. */
  const closeAll = (items: readonly CommitItem[], planned: readonly PlannedItem[], outcomes: Outcome[]): TurnWrites =>
    mergeWrites(
      planned.map(({ item, plan, ledger, held }) => {
        outcomes[item] = planCommitted(ledger, items[item] as CommitItem, held, plan, meansOf(deps));
        return closeLedger(ledger);
      }),
    );

  const attempt = async (
    tx: Transaction,
    items: readonly CommitItem[],
    grounds: readonly (readonly CallGround[])[],
    { place, limits, sending }: Attempt,
  ): Promise<Committed> => {
    const held = await holdWork(
      tx,
      items.map(({ work, step }) => ({ work, stepId: step.stepId })),
    );
    const guards = await guardsOf(tx, items, held, grounds);
    const { outcomes, planned } = planAll(items, grounds, held, guards);
    await holdQueues(tx, planned, limits);
    const dispatched = await dispatchCalls(tx, planned, place(planned.flatMap(({ plan }) => plan.rows)));
    const writes = closeAll(items, planned, outcomes);
    await deps.faults.at("commit:before-commit");
    sending();
    const written = await commitTurns(tx, writes, deps);
    return { outcomes, dispatched, written };
  };

  /**
   * The same from memory, in one message; undefined when that cannot be, and nothing was written. Tools that end the turn need its inbox,
   * queues with a limit a lock, and calls with a key may exist.
   */
  const attemptKnown = async (
    items: readonly CommitItem[],
    grounds: readonly (readonly CallGround[])[],
    { place, limits, sending }: Attempt,
  ): Promise<Committed | undefined> => {
    if (limits.size > 0 || grounds.some((own) => own.some(endsTurn))) return undefined;
    const known = deps.known.recall(items.map(({ work }) => work));
    if (known === undefined) return undefined;
    const { outcomes, planned } = planAll(items, grounds, known.held, new Map());
    const calls = planned.flatMap(({ plan }) => plan.rows);
    if (calls.some(({ row }) => row.idempotencyKey !== null)) return undefined;
    const write = writePart(closeAll(items, planned, outcomes), deps);
    // What is refused is refused by what was read.
    if (write === undefined || outcomes.some((outcome) => outcome instanceof Error)) return undefined;
    const { rows } = place(calls);
    if (rows.length > 0) await deps.faults.at("commit:before-dispatch");
    await deps.faults.at("commit:before-commit");
    sending();
    const dispatch = { statement: DISPATCH_ALL, values: bindDispatch(rows, deps.republishSeconds) };
    const answers = await tryTogether(deps.db, [known.keep(false), ...(rows.length === 0 ? [] : [dispatch]), write]);
    if (answers === undefined) return undefined;
    const dispatched =
      rows.length === 0 ? [] : answersOf(rows, answers[1] as DispatchedRow[]).flatMap((row) => row ?? []);
    return { outcomes, dispatched, written: writtenOf(answers.at(-1) ?? []) };
  };

  /** One try, and what is told after its commit. A service gets its call before any bell rings. */
  const commit = async (
    items: readonly CommitItem[],
    grounds: readonly (readonly CallGround[])[],
    limits: QueueLimits,
  ): Promise<{ readonly outcomes: readonly Outcome[]; readonly rows: Placement["rows"] }> => {
    let placement: Placement | undefined;
    let isSent = false;
    const means: Attempt = {
      limits,
      place(calls) {
        placement = deps.places.place(calls);
        return placement;
      },
      sending() {
        isSent = true;
      },
    };
    let done: Committed | undefined;
    try {
      done = await attemptKnown(items, grounds, means);
      if (done === undefined) {
        placement?.drop(false);
        placement = undefined;
        isSent = false;
        done = await deps.db.transaction((tx) => attempt(tx, items, grounds, means));
      }
      await deps.faults.at("commit:after-commit");
    } catch (error) {
      placement?.drop(isSent);
      throw error;
    }
    const { dispatched } = done;
    await placement?.tell(dispatched);
    deps.places.ring(
      placement?.rows.filter((_, index) => dispatched[index]?.leased === false) ?? [],
      dispatched.some(({ gated }) => gated),
    );
    announce(deps, { ended: [], rang: true, ...done.written });
    return { outcomes: done.outcomes, rows: placement?.rows ?? [] };
  };

  /** Why calls were refused: for good, or only because the definition changed. */
  const explain = async (
    items: readonly CommitItem[],
    { places }: UnreadyCalls,
    refused: Map<string, ToolplaneError>,
  ): Promise<void> => {
    const names = places.map(({ item, call }) => {
      const { step, projectId, agentId } = items[item] as CommitItem;
      return { projectId, agentId, toolName: step.entries.filter(isCall)[call]?.call.toolName ?? "" };
    });
    const rows = await deps.db.query<RefusalRow>(EXPLAIN_REFUSAL, bindRefusals(names));
    const byOrd = new Map(rows.map((row) => [row.ord, row]));
    for (const [index, { item, call, ready }] of places.entries()) {
      const name = names[index];
      if (name === undefined) continue;
      const refusal = ready
        ? new ToolplaneError("idempotency_conflict", "the idempotency key was used before; use a new key")
        : refusalOf(byOrd.get(index + 1), name);
      if (refusal === "replan") deps.definitions.forget(name.projectId, name.toolName);
      else refused.set(`${item}/${call}`, refusal);
    }
  };

  const flush = async (items: readonly CommitItem[]): Promise<readonly Outcome[]> => {
    const asked = items.flatMap(({ projectId, step }, item) =>
      step.entries.filter(isCall).map((_, call) => ({ projectId, place: `${item}/${call}` })),
    );
    const refused = await refuseCalls(deps.admission, asked);
    const letIn = asked.filter(({ place }) => !refused.has(place));
    for (let round = 1; ; ) {
      const grounds = await groundsOf(items, refused);
      const limits = await deps.admission.queueLimits(asked.map(({ projectId }) => projectId));
      try {
        const { outcomes, rows } = await commit(items, grounds, limits);
        await giveBackCalls(deps.admission, letIn, rows);
        return outcomes;
      } catch (error) {
        // Each of these rounds refuses one more call at least.
        if (error instanceof FullQueues) for (const [place, refusal] of error.refused) refused.set(place, refusal);
        else if (!(error instanceof UnreadyCalls)) throw error;
        else if (round++ === MAX_REPLANS) {
          await giveBackCalls(deps.admission, letIn, []);
          throw error;
        } else await explain(items, error, refused);
      }
    }
  };

  const coalescer: Coalescer<CommitItem, CommittedStep> = createHeadCoalescer<CommitItem, CommittedStep>(
    {
      flush,
      bytesOf: ({ step }) => roughBytes(step.entries, MAX_FLUSH_BYTES),
      maxBytes: MAX_FLUSH_BYTES,
      maxItems: MAX_FLUSH_ITEMS,
    },
    deps.clock,
  );
  return {
    coalescer,
    async submit(work: Work, step: StepCommit): Promise<CommittedStep> {
      if (step.metadata !== undefined && roughBytes(step.metadata, MAX_METADATA_BYTES) >= MAX_METADATA_BYTES)
        throw new ToolplaneError("payload_too_large", `a step's metadata is at most ${MAX_METADATA_BYTES} bytes`);
      const { projectId, agentId } = work;
      const hash = stepHash(step, deps.sha256);
      const checked = new Map<object, Checked>();
      for (let round = 1; ; round++) {
        try {
          return await coalescer.submit({ projectId, agentId, work, step, hash, checked });
        } catch (error) {
          // Nothing of the step was written; its head is free while the thread works.
          if (!(error instanceof LongCheck) || error.about === undefined) throw error;
          if (round > step.entries.length + MAX_REPLANS) throw new UnreadyCalls([]);
          checked.set(error.about.ask, await finishCheck(error, projectId));
        }
      }
    },
  };
};
