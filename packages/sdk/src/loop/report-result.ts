// For authors of their own loop: makes the context of a result from a command and its card, and hands a result over in the
// protocol's two steps. The runner does the same and more; no tool is run here.

import {
  asActor,
  type BuiltResult,
  type Card,
  type CGContext,
  type CommandPayload,
  type ResultContext,
  requireToolCall,
  requireTurn,
  type TraceIds,
} from "@toolplane/protocol";
import { withChildSpan } from "@toolplane/protocol/agents";
import type { Patience, Settled, ToolGateway } from "../gateway/gateway.ts";
import { writeResultCard } from "../gateway/write-result.ts";

export interface ResultOrigin {
  /** The command's context, from `ingress`. */
  readonly context: CGContext;
  readonly command: CommandPayload;
  /** The tool.call card; its lineage is copied as it is. */
  readonly card: Card;
  /** Who answers, for example `tool.text`: the card's author and the report's source. */
  readonly actor: string;
  readonly cardId: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

export const createResultContext = (origin: ResultOrigin): ResultContext => ({
  cardId: origin.cardId,
  createdAt: origin.createdAt,
  projectId: origin.context.projectId,
  agentTurnId: requireTurn(origin.context),
  toolCallId: requireToolCall(origin.context),
  authorId: origin.actor,
  toolName: origin.command.tool_name,
  afterExecution: origin.command.after_execution,
  toolCallMetadata: origin.card.metadata,
});

export interface ResultReport {
  readonly result: BuiltResult;
  readonly context: CGContext;
  readonly actor: string;
  readonly ids: TraceIds;
  readonly leaseId?: string | undefined;
  readonly patience?: Patience | undefined;
}

/**
 * Writes the card, then reports the pointer to it under a span of its own. Sending both again does no harm. When the call already
 * has a card of this actor, that card is reported.
 */
export const reportResult = async (
  gateway: Pick<ToolGateway, "putCard" | "report">,
  { result, context, actor, ids, leaseId, patience }: ResultReport,
): Promise<Settled> => {
  const payload = await writeResultCard(gateway, { ...result, leaseId }, patience);
  const target = withChildSpan(context, ids);
  return gateway.report({ source: asActor(context, actor), target, payload, leaseId }, patience);
};
