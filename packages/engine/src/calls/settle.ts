// Settling reported results. The way of a flush: facts (remembered from the lease) -> plan each -> one statement -> ring.
//   I1. First valid result wins. I6. Only the holder of a live lease, or anybody of the right actor while there is none.
//   A settled call keeps its lease id and the hash of its result: the same again is `idempotent`, anything else
//   `already_settled`. A flush whose answer was lost may run again for the same reason.

import { setImmediate as breathe } from "node:timers/promises";
import { isFilled, isToolplaneError, type JsonCaps, ToolplaneError } from "@toolplane/protocol";
import { checkCallTrace } from "@toolplane/protocol/agents";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import { roughBytes } from "../coalescer/rough-bytes.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Database } from "../sql/database.ts";
import { type CallFacts, type CallKey, type CallStatus, type CallView, callKey, isSettled } from "./call.ts";
import type { FactMemory } from "./call-facts.ts";
import { settleAudited } from "./control-acts.ts";
import { type GivenResult, planSettlement, type Settlement, type WrittenResult } from "./plan-settlement.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "./read.sql.ts";
import { withTrueDefinitions } from "./said-definition.ts";
import { type SettledRow, type SettleRow, settlementOf } from "./settle.sql.ts";
import type { SettleWatch } from "./settle-watch.ts";
import type { Sha256 } from "./turn-chain.ts";

export interface SettleRequest extends CallKey {
  /** The authenticated producer, such as `tool.text`. */
  readonly actorId: string;
  readonly leaseId?: string | undefined;
  readonly outcome: { readonly given: GivenResult } | { readonly written: WrittenResult };
  readonly traceparent?: string | undefined;
}

export interface Settled {
  readonly toolResultCardId: string;
  readonly status: string;
  readonly idempotent: boolean;
}

export interface SettleDeps {
  readonly db: Database;
  readonly facts: FactMemory;
  readonly watch: SettleWatch;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly observe: CallObserver;
  readonly ids: Ids;
  readonly log: Log;
  readonly sha256: Sha256;
  readonly caps: JsonCaps;
  readonly protocolVersion: string;
}

const noCall = (key: CallKey): ToolplaneError =>
  new ToolplaneError("not_found", `there is no call ${key.toolCallId} in this project`);

const wrongActor = (facts: CallFacts, actorId: string): ToolplaneError =>
  new ToolplaneError(
    "invalid_source_actor",
    `call ${facts.toolCallId} was sent to ${facts.actorId}, not to ${actorId}`,
  );

/** Why this request may not settle this call, whatever state the call is in. */
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

/** Why a settlement did not win, or that it had won before. */
const planRepeat = (row: SettleRow, view: CallView | undefined): Settled | ToolplaneError => {
  if (view === undefined) return noCall(row);
  if (view.status === "awaiting_approval")
    return new ToolplaneError(
      "conflict",
      `call ${row.toolCallId} waits for approval: it must not run, so it cannot have a result`,
    );
  if (!isSettled(view.status))
    return new ToolplaneError(
      "lease_lost",
      row.leaseId === null
        ? `call ${row.toolCallId} is leased by ${view.leaseHolder}: only the holder of the lease can settle it`
        : `the lease on call ${row.toolCallId} is gone; somebody else runs it now`,
      { detail: { status: view.status } },
    );
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

// Results of this size settle alone rather than hold up a batch of small ones.
const MAX_FLUSH_BYTES = 1024 * 1024;
const LARGE_CARD = 64 * 1024;

interface Planned {
  readonly request: SettleRequest;
  readonly row: SettleRow;
  readonly facts: CallFacts;
}

export const createSettle = (deps: SettleDeps): Coalescer<SettleRequest, Settled> => {
  const { db, faults } = deps;

  const plan = (request: SettleRequest, facts: CallFacts | undefined, now: string): Planned | ToolplaneError => {
    if (facts === undefined) return noCall(request);
    const refusal = refusalOf(request, facts);
    if (refusal !== undefined) return refusal;
    const settlement: Settlement = {
      facts,
      mode: "report",
      // A blank one is none: it is what a plain service sends that fills in every header.
      leaseId: isFilled(request.leaseId) ? request.leaseId : null,
      actorId: request.actorId,
      messageType: "tool_result",
      outcome: request.outcome,
      traceparent: isFilled(request.traceparent) ? request.traceparent : undefined,
    };
    return { request, row: planSettlement(settlement, { ...deps, now }), facts };
  };

  const repeat = async (losers: readonly Planned[]): Promise<Map<Planned, Settled | ToolplaneError>> => {
    if (losers.length === 0) return new Map();
    const rows = await db.query<ViewRow>(READ_CALLS, bindKeys(losers.map(({ request }) => request)));
    const views = new Map(rows.map(viewOf).map((view) => [callKey(view), view]));
    return new Map(losers.map((loser) => [loser, planRepeat(loser.row, views.get(callKey(loser.request)))]));
  };

  const announce = async (won: readonly Planned[], rows: readonly SettledRow[]): Promise<void> => {
    if (won.length === 0) return;
    await faults.at("settle:before-doorbell");
    for (const { request, facts, row } of won) {
      deps.observe({ ...facts, status: row.status as CallStatus });
      deps.facts.forget(request);
      deps.watch.settled(request);
    }
    deps.doorbell.ring("settled");
    if (won.some(({ facts }) => !facts.headless)) deps.doorbell.ring("messages");
    // The next call of the session may run.
    if (won.some(({ facts }) => facts.session !== null)) deps.doorbell.ring("sessions");
    if (rows.some((row) => row.unrung))
      deps.log.warn("an agent has no worker_target: its inbox waits, nobody was rung");
    await faults.at("settle:after-doorbell");
  };

  const flush = async (asked: readonly SettleRequest[]): Promise<readonly (Settled | Error)[]> => {
    await faults.at("settle:before-read");
    const facts = await deps.facts.recall(asked);
    const requests = await withTrueDefinitions(db, asked, facts);
    const now = new Date(deps.clock.now()).toISOString();
    const plans: (Planned | ToolplaneError)[] = [];
    for (const [index, request] of requests.entries()) {
      const planned = plan(request, facts[index], now);
      plans.push(planned);
      // Planning a large result takes tens of milliseconds: others get their turn before the next one.
      if (!(planned instanceof Error) && (planned.row.cardBody?.length ?? 0) > LARGE_CARD) await breathe();
    }
    const planned = plans.filter((item): item is Planned => !(item instanceof Error));
    if (planned.length === 0) return plans as readonly ToolplaneError[];
    await faults.at("settle:before-commit");
    const settling = planned.map(({ row }) => row);
    const statement = settlementOf(settling, deps.protocolVersion);
    const rows = settling.some(({ control }) => control !== undefined)
      ? await settleAudited(db, settling, statement)
      : await db.query<SettledRow>(...statement);
    await faults.at("settle:after-commit");
    const won = planned.filter((_, index) => rows[index]?.won === true);
    const repeats = await repeat(planned.filter((_, index) => rows[index]?.won !== true));
    await announce(won, rows);
    return plans.map((item) => {
      if (item instanceof Error) return item;
      const { resultCardId, status } = item.row;
      return repeats.get(item) ?? { toolResultCardId: resultCardId, status, idempotent: false };
    });
  };

  return createCoalescer<SettleRequest, Settled>({
    flush,
    keyOf: callKey,
    bytesOf: ({ outcome }) => ("given" in outcome ? roughBytes(outcome.given, MAX_FLUSH_BYTES) : 0),
    maxBytes: MAX_FLUSH_BYTES,
  });
};
