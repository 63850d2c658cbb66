// Cancel settles the open call in its own transaction; the holder learns it by its next heartbeat and aborts.
// A result card that was already written is used: the work is done, canceling it would only lose it.

import { type JsonCaps, ToolplaneError } from "@toolplane/protocol";
import { type Actor, reasonIn } from "../audit/audit.ts";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Database } from "../sql/database.ts";
import { type CallFacts, type CallKey, type CallStatus, callKey } from "./call.ts";
import type { FactMemory } from "./call-facts.ts";
import { readCandidates } from "./candidates.ts";
import { settleAudited } from "./control-acts.ts";
import { engineFailure, planSettlement, type Settlement } from "./plan-settlement.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "./read.sql.ts";
import { bindSettle, SETTLE, type SettledRow, type SettleRow } from "./settle.sql.ts";
import type { SettleWatch } from "./settle-watch.ts";
import type { Sha256 } from "./turn-chain.ts";

export interface CancelRequest extends CallKey {
  readonly reason?: string | undefined;
  /** Who asked for it. */
  readonly by?: string | undefined;
  /** The person who is written down for it. */
  readonly actor?: Actor | undefined;
}

export interface Canceled {
  /** False when the call had settled before; its own result stands. */
  readonly canceled: boolean;
  readonly status: string;
}

export interface CancelDeps {
  readonly db: Database;
  readonly facts: FactMemory;
  readonly watch: SettleWatch;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly observe: CallObserver;
  readonly ids: Ids;
  readonly sha256: Sha256;
  readonly caps: JsonCaps;
  readonly protocolVersion: string;
}

/** The engine's own name on cards it writes when nobody else can. */
export const ENGINE_ACTOR = "sys.engine";
const MAX_REASON_LENGTH = 500;
const CANCELED = "call.canceled" as const;

const settlementOf = (
  facts: CallFacts,
  request: Identified,
  written: Parameters<typeof planSettlement>[0]["outcome"] | undefined,
): Settlement => {
  const reason = (request.reason ?? "canceled").slice(0, MAX_REASON_LENGTH).toWellFormed().replaceAll("\u0000", "");
  const error = new ToolplaneError("canceled", reason, {
    detail: request.by === undefined ? undefined : { by: request.by },
  });
  return {
    facts,
    mode: "cancel",
    leaseId: null,
    actorId: written === undefined ? ENGINE_ACTOR : facts.actorId,
    messageType: "tool_result",
    cardId: request.cardId,
    outcome: written ?? { given: engineFailure("canceled", error, "worker") },
  };
};

/** A request with the id of the card it may write: a second run, after its answer was lost, finds the first by it. */
interface Identified extends CancelRequest {
  readonly cardId: string;
}

export const createCancel = (deps: CancelDeps): Coalescer<CancelRequest, Canceled> => {
  const { db, faults } = deps;

  const flush = async (requests: readonly Identified[]): Promise<readonly (Canceled | Error)[]> => {
    const known = await deps.facts.recall(requests);
    const open = requests.flatMap((request, index) => {
      const facts = known[index];
      return facts === undefined ? [] : [{ request, facts }];
    });
    const candidates = await readCandidates(
      db,
      open.map(({ facts }) => facts),
    );
    const now = new Date(deps.clock.now()).toISOString();
    const rows = open.map(({ request, facts }) => {
      const written = candidates.get(callKey(facts));
      return planSettlement(settlementOf(facts, request, written && { written }), { ...deps, now });
    });
    await faults.at("cancel:before-commit");
    const asked = new Map(open.map(({ request }) => [callKey(request), request]));
    const canceledBy = (won: readonly SettleRow[]) =>
      won.flatMap((row) => {
        const { actor: by, reason } = asked.get(callKey(row)) ?? {};
        const about = { projectId: row.projectId, act: CANCELED, subject: row.toolCallId, detail: reasonIn(reason) };
        return by === undefined ? [] : [{ ...about, by }];
      });
    const values = rows.length === 0 ? [] : bindSettle(rows, deps.protocolVersion);
    const isAudited = open.some(({ request }) => request.actor !== undefined);
    const settled =
      rows.length === 0
        ? []
        : isAudited
          ? await settleAudited(db, rows, [SETTLE, values], canceledBy)
          : await db.query<SettledRow>(SETTLE, values);
    await faults.at("cancel:after-commit");
    const won = new Set(rows.filter((_, index) => settled[index]?.won === true).map(callKey));
    for (const [index, { request, facts }] of open.entries()) {
      deps.facts.forget(request);
      if (!won.has(callKey(request))) continue;
      deps.watch.settled(request);
      deps.observe({ ...facts, status: rows[index]?.status as CallStatus });
    }
    if (won.size > 0) {
      deps.doorbell.ring("settled");
      if (open.some(({ facts }) => !facts.headless)) deps.doorbell.ring("messages");
      if (open.some(({ facts }) => facts.session !== null)) deps.doorbell.ring("sessions");
    }
    const views = await db.query<ViewRow>(READ_CALLS, bindKeys(requests));
    const found = new Map(views.map(viewOf).map((view) => [callKey(view), view]));
    return requests.map((request) => {
      const view = found.get(callKey(request));
      if (view === undefined)
        return new ToolplaneError("not_found", `there is no call ${request.toolCallId} in this project`);
      const canceled = won.has(callKey(request)) || view.resultCardId === request.cardId;
      return { canceled, status: view.status };
    });
  };

  const coalescer = createCoalescer<Identified, Canceled>({ flush, keyOf: callKey });
  return { ...coalescer, submit: (request) => coalescer.submit({ ...request, cardId: deps.ids.uuid() }) };
};
