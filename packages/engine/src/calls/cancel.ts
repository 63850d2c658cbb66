// Cancel settles the open call in its own transaction; the holder learns it by its next heartbeat and aborts. A result card that
// was already written is used: the work is done, and canceling would only lose it.

import { storableText, ToolplaneError } from "@toolplane/protocol";
import { type Actor, reasonIn } from "../audit/audit.ts";
import { type Coalescer, createCoalescer } from "../coalescer/coalescer.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Database } from "../sql/database.ts";
import { type CallFacts, type CallKey, type CallStatus, callKey } from "./call.ts";
import type { FactMemory } from "./call-facts.ts";
import { readCandidates } from "./candidates.ts";
import { engineFailure, type Settlement } from "./plan-settlement.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "./read.sql.ts";
import type { PlannedSettlement, Settlements } from "./settlements.ts";

export interface CancelRequest extends CallKey {
  readonly reason?: string | undefined;
  /** Who asked for it. */
  readonly by?: string | undefined;
  /** The person recorded for it. */
  readonly actor?: Actor | undefined;
}

export interface Canceled {
  /** False when the call had settled before; its own result stands. */
  readonly canceled: boolean;
  readonly status: CallStatus;
}

export interface CancelDeps {
  readonly db: Database;
  readonly facts: FactMemory;
  readonly settlements: Settlements;
  readonly faults: Faults;
  readonly ids: Ids;
}

/** The engine's own name as the author of cards. */
export const ENGINE_ACTOR = "sys.engine";
const MAX_REASON_LENGTH = 500;
const CANCELED = "call.canceled" as const;

const settlementOf = (
  facts: CallFacts,
  request: Identified,
  written: Settlement["outcome"] | undefined,
): Settlement => {
  const reason = storableText(request.reason ?? "canceled", MAX_REASON_LENGTH);
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

/** A request with the id of the card it may write: after a lost answer, the second run finds the first by it. */
interface Identified extends CancelRequest {
  readonly cardId: string;
}

interface Planned extends PlannedSettlement {
  readonly request: Identified;
}

const canceledBy = (won: readonly Planned[]) =>
  won.flatMap(({ request: { actor: by, reason }, facts: { projectId, toolCallId } }) =>
    by === undefined ? [] : [{ by, projectId, act: CANCELED, subject: toolCallId, detail: reasonIn(reason) }],
  );

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
    const planned = open.map(({ request, facts }): Planned => {
      const written = candidates.get(callKey(facts));
      return { request, ...deps.settlements.plan(settlementOf(facts, request, written && { written })) };
    });
    await faults.at("cancel:before-commit");
    const isAudited = planned.some(({ request }) => request.actor !== undefined);
    const settled = await deps.settlements.alone(planned, isAudited ? canceledBy : undefined);
    await faults.at("cancel:after-commit");
    const won = new Set([...settled].map(({ request }) => callKey(request)));
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
