// Settles reported results. The way of a flush: facts (remembered from the lease) -> plan each -> one statement -> ring.
//   I1. The first valid result wins.
//   I6. Only the holder of a live lease settles; without a lease, any service of the right actor, if the call can have run.
//   A settled call keeps its lease id and the hash of its result: the same result again is `idempotent`, any other is
//   `already_settled`. For the same reason a flush whose answer was lost may run again.

import { setImmediate as breathe } from "node:timers/promises";
import { isFilled, isToolplaneError, ToolplaneError, type ToolResultContent } from "@toolplane/protocol";
import { checkCallTrace } from "@toolplane/protocol/agents";
import type { Act, Actor } from "../audit/audit.ts";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import { roughBytes } from "../coalescer/rough-bytes.ts";
import type { Diagnostics } from "../diagnostics/diagnostics.ts";
import type { LingeringRuns } from "../gates/lingering-runs.ts";
import type { Clock } from "../ports/clock.ts";
import type { Faults } from "../ports/faults.ts";
import type { Database } from "../sql/database.ts";
import { type CallFacts, type CallKey, type CallView, callKey, isSettled } from "./call.ts";
import type { FactMemory } from "./call-facts.ts";
import { planNotDue } from "./not-due.ts";
import { type GivenResult, resultHash, type WrittenResult } from "./plan-settlement.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "./read.sql.ts";
import { READ_STANDING, type StandingCard } from "./reports.sql.ts";
import { otherStands } from "./result-slot.ts";
import type { Retries } from "./retries.ts";
import { findChanged, type SaidDeps, withTrueDefinitions } from "./said-definition.ts";
import type { SettleRow } from "./settle.sql.ts";
import type { PlannedSettlement, Settlements } from "./settlements.ts";
import type { Sha256 } from "./turn-chain.ts";

export interface SettleRequest extends CallKey {
  /** The authenticated producer, such as `tool.text`. */
  readonly actorId: string;
  readonly leaseId?: string | undefined;
  readonly outcome: { readonly given: GivenResult } | { readonly written: WrittenResult };
  readonly traceparent?: string | undefined;
  /** What the tool's program said about its failure. */
  readonly diagnostics?: Diagnostics | undefined;
  /** The person who speaks for the producer, for the audit; absent for a service. */
  readonly by?: Actor | undefined;
}

export interface Settled {
  /** Null: the call has not settled, so it has no result card. */
  readonly toolResultCardId: string | null;
  /** `queued`: the attempt failed and is tried again, by the retry policy of its tool; the call has not settled. */
  readonly status: string;
  readonly idempotent: boolean;
  /** When it is tried again. */
  readonly retryAt?: Date | undefined;
}

export interface SettleDeps extends Pick<SaidDeps, "runnablePins"> {
  readonly db: Database;
  readonly facts: FactMemory;
  readonly settlements: Settlements;
  readonly retries: Retries;
  readonly lingering: Pick<LingeringRuns, "over">;
  readonly faults: Faults;
  readonly sha256: Sha256;
  readonly clock: Pick<Clock, "now">;
}

const noCall = (key: CallKey): ToolplaneError =>
  new ToolplaneError("not_found", `there is no call ${key.toolCallId} in this project`);

const wrongActor = (facts: CallFacts, actorId: string): ToolplaneError =>
  new ToolplaneError(
    "invalid_source_actor",
    `call ${facts.toolCallId} was sent to ${facts.actorId}, not to ${actorId}`,
  );

/** Why this request may not settle this call, in any state of the call. */
const refusalOf = (request: SettleRequest, facts: CallFacts): ToolplaneError | undefined => {
  if (request.actorId !== facts.actorId) return wrongActor(facts, request.actorId);
  try {
    checkCallTrace(request.traceparent, facts);
    return undefined;
  } catch (error) {
    if (isToolplaneError(error)) return error;
    throw error;
  }
};

const notHolder = ({ toolCallId, leaseId }: SettleRow, { status, leaseHolder }: CallView): ToolplaneError =>
  new ToolplaneError(
    "lease_lost",
    leaseId === null
      ? status === "queued"
        ? `call ${toolCallId} waits for a service of its version or for a limit: take it under a lease before it has a result`
        : `call ${toolCallId} is leased by ${leaseHolder}: only the holder of the lease can settle it`
      : `the lease on call ${toolCallId} is gone; ${status === "running" ? "another service runs it now" : "no service holds it"}`,
    { detail: { status } },
  );

/** Why a settlement did not win, or that it had won before. */
const planRepeat = (row: SettleRow, view: CallView | undefined, nowMs: number): Settled | ToolplaneError => {
  if (view === undefined) return noCall(row);
  const notDue = planNotDue(view, row.leaseId, nowMs);
  if (notDue !== undefined) return notDue;
  if (!isSettled(view.status)) return notHolder(row, view);
  const sameHands = row.leaseId === null ? view.settledBy === row.settledBy : view.leaseId === row.leaseId;
  if (sameHands && view.resultHash === row.resultHash && view.resultCardId !== null)
    return { toolResultCardId: view.resultCardId, status: view.status, idempotent: true };
  return new ToolplaneError(
    "already_settled",
    `call ${row.toolCallId} has settled (${view.status}); the first valid result counts`,
    {
      detail: { status: view.status, tool_result_card_id: view.resultCardId },
    },
  );
};

// A result of this size settles alone, so that it does not hold up many small ones.
const MAX_FLUSH_BYTES = 1024 * 1024;
const LARGE_CARD = 64 * 1024;

interface Planned extends PlannedSettlement {
  readonly request: SettleRequest;
}

const actsOf = (won: readonly Planned[]): (Act & { readonly by: Actor })[] =>
  won.flatMap(({ request: { by, actorId }, facts: { projectId, toolCallId, toolName }, row: { status } }) =>
    by === undefined
      ? []
      : [
          {
            by,
            projectId,
            act: "call.settled",
            subject: toolCallId,
            detail: { tool_name: toolName, status, as: actorId },
          },
        ],
  );

const answerOf = ({ resultCardId, status }: SettleRow): Settled => ({
  toolResultCardId: resultCardId,
  status,
  idempotent: false,
});

export const createSettle = (deps: SettleDeps): Coalescer<SettleRequest, Settled> => {
  const { db, faults } = deps;

  const plan = (
    request: SettleRequest,
    facts: CallFacts | undefined,
    standing?: StandingCard,
  ): Planned | ToolplaneError => {
    if (facts === undefined) return noCall(request);
    const refusal = refusalOf(request, facts);
    if (refusal !== undefined) return refusal;
    const planned = deps.settlements.plan({
      facts,
      mode: "report",
      // A blank lease counts as none: some plain services send every header.
      leaseId: isFilled(request.leaseId) ? request.leaseId : null,
      actorId: request.actorId,
      messageType: "tool_result",
      outcome: request.outcome,
      traceparent: isFilled(request.traceparent) ? request.traceparent : undefined,
      standing: standing === undefined ? undefined : { cardId: standing.card_id, hash: standing.hash },
    });
    return { ...planned, request, diagnostics: request.diagnostics };
  };

  /** A commit of its own; what a person did is written down in it. */
  const settleAll = (planned: readonly Planned[]): Promise<ReadonlySet<Planned>> =>
    deps.settlements.alone(planned, planned.some(({ request: { by } }) => by !== undefined) ? actsOf : undefined);

  const read = async (keys: readonly CallKey[]): Promise<ReadonlyMap<string, CallView>> =>
    new Map((await db.query<ViewRow>(READ_CALLS, bindKeys(keys))).map(viewOf).map((view) => [callKey(view), view]));

  /** The card that kept an open call from settling with a new one; only the holder of the lease is told. */
  const findStanding = async (row: SettleRow, view: CallView | undefined): Promise<StandingCard | undefined> => {
    if (row.cardBody === null || view === undefined || isSettled(view.status)) return undefined;
    if (view.leaseId !== row.leaseId || planNotDue(view, row.leaseId, deps.clock.now()) !== undefined) return undefined;
    const { projectId, resultCardId, settledBy, toolCallId } = row;
    const found = await db.query<StandingCard>(READ_STANDING, [projectId, resultCardId, settledBy, toolCallId]);
    return found[0];
  };

  const saysTheSame = ({ body }: StandingCard, row: SettleRow): boolean =>
    resultHash((JSON.parse(body) as { content: ToolResultContent }).content, deps.sha256) === row.resultHash;

  /** One card per call and author (UTP 4.4): the existing card is the result, if its content is the same. */
  const settleStanding = async (loser: Planned, standing: StandingCard): Promise<Settled | ToolplaneError> => {
    const { toolCallId, settledBy } = loser.row;
    if (!saysTheSame(standing, loser.row)) return otherStands({ toolCallId, actorId: settledBy }, standing);
    const again = plan(loser.request, loser.facts, standing);
    if (again instanceof Error) return again;
    if ((await settleAll([again])).has(again)) return answerOf(again.row);
    return planRepeat(again.row, (await read([again.row])).get(callKey(again.row)), deps.clock.now());
  };

  const repeat = async (losers: readonly Planned[]): Promise<Map<Planned, Settled | ToolplaneError>> => {
    const answers = new Map<Planned, Settled | ToolplaneError>();
    if (losers.length === 0) return answers;
    const views = await read(losers.map(({ request }) => request));
    // The result comes too late, and says that the run is over: it frees the slot.
    const ended = losers.filter(({ row, request }) => {
      const view = views.get(callKey(request));
      return view !== undefined && isSettled(view.status) && view.settledBy !== row.settledBy;
    });
    await deps.lingering.over(ended.map(({ row }) => row));
    for (const loser of losers) {
      const view = views.get(callKey(loser.request));
      const standing = await findStanding(loser.row, view);
      const answer =
        standing === undefined ? planRepeat(loser.row, view, deps.clock.now()) : await settleStanding(loser, standing);
      answers.set(loser, answer);
    }
    return answers;
  };

  /** Failed attempts that the retry policies of their tools give another try. */
  const retryFailed = async (planned: readonly Planned[]): Promise<ReadonlyMap<Planned, Settled>> => {
    const plans = await deps.retries.plan(
      planned.map(({ facts, row, request: { outcome } }) => ({
        facts,
        leaseId: row.leaseId,
        given: "given" in outcome ? outcome.given : undefined,
      })),
    );
    const times = await deps.retries.retry(
      db,
      plans.filter((plan) => plan !== undefined),
    );
    return new Map(
      planned.flatMap((item, index) => {
        const plan = plans[index];
        const retryAt = plan && times.get(plan);
        const again = { toolResultCardId: null, status: "queued", idempotent: false } as const;
        return retryAt === undefined ? [] : [[item, { ...again, retryAt }] as const];
      }),
    );
  };

  /** What a result says of its definition, unless it is refused anyhow. */
  const claimedOf = (request: SettleRequest, facts: CallFacts | undefined) =>
    facts === undefined || !("given" in request.outcome) || refusalOf(request, facts) !== undefined
      ? undefined
      : { facts, hash: request.outcome.given.definitionHash };

  const flush = async (asked: readonly SettleRequest[]): Promise<readonly (Settled | Error)[]> => {
    await faults.at("settle:before-read");
    const facts = await deps.facts.recall(asked);
    const requests = await withTrueDefinitions(db, asked, facts);
    const changed = await findChanged(
      deps,
      asked.map((request, index) => claimedOf(request, facts[index])),
    );
    const plans: (Planned | ToolplaneError)[] = [];
    for (const [index, request] of requests.entries()) {
      const planned = changed[index] ?? plan(request, facts[index]);
      plans.push(planned);
      // Planning a large result takes tens of milliseconds: other work runs before the next one.
      if (!(planned instanceof Error) && (planned.row.cardBody?.length ?? 0) > LARGE_CARD) await breathe();
    }
    const planned = plans.filter((item): item is Planned => !(item instanceof Error));
    if (planned.length === 0) return plans as readonly ToolplaneError[];
    await faults.at("settle:before-commit");
    const retried = await retryFailed(planned);
    const ending = planned.filter((item) => !retried.has(item));
    const won = await settleAll(ending);
    await faults.at("settle:after-commit");
    const repeats = await repeat(ending.filter((item) => !won.has(item)));
    return plans.map((item) => {
      if (item instanceof Error) return item;
      return retried.get(item) ?? repeats.get(item) ?? answerOf(item.row);
    });
  };

  return createCoalescer<SettleRequest, Settled>({
    flush,
    keyOf: callKey,
    bytesOf: ({ outcome }) => ("given" in outcome ? roughBytes(outcome.given, MAX_FLUSH_BYTES) : 0),
    maxBytes: MAX_FLUSH_BYTES,
  });
};
