// The protocol's two steps: a service writes its tool.result card, then reports a pointer to it. Both steps check what the
// one-step way makes right by construction: a card that could not be reported is refused when it is written. A call takes one
// card, of at most a card's size, until it settles (UTP 4.4).

import {
  type Card,
  cardText,
  HEADERS,
  type HeaderMap,
  isFilled,
  type JsonObject,
  parseCallbackPayload,
  parseCard,
  parseWritableCard,
  ToolplaneError,
  type ToolResultContent,
} from "@toolplane/protocol";
import { type ExpectedCall, planReportCheck } from "@toolplane/protocol/agents";
import type { Actor } from "../audit/audit.ts";
import { CARD_CAPS } from "../cards/prepare-card.ts";
import type { Clock } from "../ports/clock.ts";
import type { Faults } from "../ports/faults.ts";
import type { Database } from "../sql/database.ts";
import type { CallFacts, CallKey } from "./call.ts";
import type { FactMemory } from "./call-facts.ts";
import { bindKeys, READ_CALLS, type ViewRow, viewOf } from "./read.sql.ts";
import { PUT_RESULT_CARD, READ_RESULT_CARD, READ_STANDING, type StandingCard } from "./reports.sql.ts";
import { planUnwritten, type UnwrittenCard } from "./result-slot.ts";
import { findChanged, type SaidDeps, withTrueDefinition } from "./said-definition.ts";
import type { Settled, SettleRequest } from "./settle.ts";
import type { Sha256 } from "./turn-chain.ts";

export interface PutResultCard {
  readonly projectId: string;
  /** The authenticated producer. */
  readonly actorId: string;
  /** The lease it is written under; while a call is leased, only its holder may write. */
  readonly leaseId?: string | undefined;
  readonly card: unknown;
}

export interface ReportRequest extends CallKey {
  readonly actorId: string;
  readonly leaseId?: string | undefined;
  readonly payload: unknown;
  /** What the report says about its call, spelled as on the bus; it is compared with the call, never trusted. */
  readonly headers?: HeaderMap | undefined;
  /** The person who speaks for the producer, for the audit; absent for a service. */
  readonly by?: Actor | undefined;
}

export interface Reports {
  putCard(request: PutResultCard): Promise<{ readonly cardId: string; readonly hash: string }>;
  report(request: ReportRequest): Promise<Settled>;
}

export interface ReportDeps extends Pick<SaidDeps, "runnablePins"> {
  readonly db: Database;
  readonly facts: FactMemory;
  readonly faults: Faults;
  readonly sha256: Sha256;
  readonly clock: Pick<Clock, "now">;
  readonly settle: (request: SettleRequest) => Promise<Settled>;
}

/** The call's facts that a report is compared with. */
export const expectedCall = (facts: CallFacts): ExpectedCall => ({
  ...facts,
  actors: [facts.actorId],
  lineage: facts.lineage as JsonObject,
});

const check = (facts: CallFacts, card: Card | undefined, report: ReportRequest): Card => {
  const { payload, toolCallId, actorId, projectId, headers } = report;
  const said = { payload, toolCallId, sourceActor: actorId, sourceProjectId: projectId, headers };
  const verdict = planReportCheck(said, card, expectedCall(facts));
  if (!verdict.ok) throw verdict.error;
  return verdict.card;
};

export const createReports = (deps: ReportDeps): Reports => {
  const factsOf = async (key: CallKey): Promise<CallFacts> => {
    const [facts] = await deps.facts.recall([key]);
    if (facts === undefined)
      throw new ToolplaneError("not_found", `there is no call ${key.toolCallId} in this project`);
    return facts;
  };

  const refuseUnlessThere = async (card: UnwrittenCard, projectId: string): Promise<void> => {
    const { cardId, actorId, toolCallId } = card;
    const standing = await deps.db.query<StandingCard>(READ_STANDING, [projectId, cardId, actorId, toolCallId]);
    const [row] = await deps.db.query<ViewRow>(READ_CALLS, bindKeys([{ projectId, toolCallId }]));
    const refusal = planUnwritten(card, standing, row === undefined ? undefined : viewOf(row), deps.clock.now());
    if (refusal !== undefined) throw refusal;
  };

  return {
    async putCard({ projectId, actorId, leaseId: saidLease, card: input }) {
      const written = parseWritableCard(input, CARD_CAPS);
      if (written.project_id !== projectId)
        throw new ToolplaneError("protocol_violation", "the card names another project than the one it is written to");
      if (written.type !== "tool.result")
        throw new ToolplaneError("bad_request", `a tool service writes tool.result cards, not ${written.type}`);
      const facts = await factsOf({ projectId, toolCallId: written.tool_call_id ?? "" });
      const card = await withTrueDefinition(deps.db, written, facts);
      const content = card.content as ToolResultContent;
      const payload = {
        status: content.status,
        after_execution: content.after_execution,
        tool_result_card_id: card.card_id,
      };
      check(facts, card, { projectId, toolCallId: facts.toolCallId, actorId, payload });
      const [changed] = await findChanged(deps, [{ facts, hash: written.metadata.definition_hash }]);
      if (changed !== undefined) throw changed;
      const body = cardText(card, CARD_CAPS);
      const hash = deps.sha256(body);
      await deps.faults.at("card:before-commit");
      const cardId = card.card_id;
      // A blank lease counts as none, as in a report.
      const leaseId = isFilled(saidLease) ? saidLease : null;
      const { toolCallId, agentTurnId, stepId } = facts;
      const values = [projectId, cardId, card.author_id, toolCallId, agentTurnId, stepId, hash, body, leaseId];
      const put = await deps.db.query(PUT_RESULT_CARD, values);
      await deps.faults.at("card:after-commit");
      if (put.length === 0) await refuseUnlessThere({ cardId, hash, toolCallId, actorId, leaseId }, projectId);
      return { cardId, hash };
    },

    async report(request) {
      const payload = parseCallbackPayload(request.payload, { boundary: "report" });
      const facts = await factsOf(request);
      const rows = await deps.db.query<{ hash: string; body: string }>(READ_RESULT_CARD, [
        request.projectId,
        payload.tool_result_card_id,
      ]);
      const [stored] = rows;
      const card = check(facts, stored === undefined ? undefined : parseCard(JSON.parse(stored.body)), request);
      return deps.settle({
        projectId: request.projectId,
        toolCallId: request.toolCallId,
        actorId: request.actorId,
        leaseId: request.leaseId,
        by: request.by,
        traceparent: request.headers?.[HEADERS.traceparent],
        outcome: {
          written: { cardId: card.card_id, hash: stored?.hash ?? "", content: card.content as ToolResultContent },
        },
      });
    },
  };
};
