// Result cards that were written and never reported. When a call must end without a report - canceled, timed out, its holder
// gone - the oldest valid one is its result: the work was done, only the report was lost.

import { type Card, parseCard, type ToolResultContent } from "@toolplane/protocol";
import { planReportCheck } from "@toolplane/protocol/agents";
import type { Queryer } from "../sql/database.ts";
import { type CallFacts, type CallKey, callKey } from "./call.ts";
import type { WrittenResult } from "./plan-settlement.ts";
import { bindKeys, type CandidateRow, READ_CANDIDATES } from "./read.sql.ts";
import { expectedCall } from "./reports.ts";

/** A card that this version cannot read does not count; it must not keep its call from ending. */
const tryReadCard = (body: string): Card | undefined => {
  try {
    return parseCard(JSON.parse(body));
  } catch {
    return undefined;
  }
};

/** A card as a result of this call, or undefined if the rules for reports would refuse it. */
const planCandidate = (facts: CallFacts, { body, hash }: CandidateRow): WrittenResult | undefined => {
  const card = tryReadCard(body);
  if (card === undefined) return undefined;
  const content = card.content as ToolResultContent;
  const verdict = planReportCheck(
    {
      payload: { status: content.status, after_execution: content.after_execution, tool_result_card_id: card.card_id },
      toolCallId: facts.toolCallId,
      sourceActor: card.author_id,
      sourceProjectId: facts.projectId,
    },
    card,
    expectedCall(facts),
  );
  return verdict.ok ? { cardId: verdict.card.card_id, hash, content } : undefined;
};

export const readCandidates = async (
  db: Queryer,
  calls: readonly CallFacts[],
): Promise<ReadonlyMap<string, WrittenResult>> => {
  const found = new Map<string, WrittenResult>();
  if (calls.length === 0) return found;
  const rows = await db.query<CandidateRow>(READ_CANDIDATES, bindKeys(calls));
  const byKey = new Map(calls.map((facts) => [callKey(facts), facts]));
  for (const row of rows) {
    const key: CallKey = { projectId: row.project_id, toolCallId: row.tool_call_id };
    const facts = byKey.get(callKey(key));
    if (facts === undefined || found.has(callKey(key))) continue;
    const written = planCandidate(facts, row);
    if (written !== undefined) found.set(callKey(key), written);
  }
  return found;
};
