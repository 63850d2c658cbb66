// Answers a command that cannot be accepted, so that its caller does not wait in vain. The caller is read from the headers, else
// from the tool.call card that the payload points to; never from what the payload says about itself.

import {
  buildValidationFailure,
  CARD_TYPES,
  type Card,
  type CGContext,
  childTraceparent,
  HEADERS,
  isFilled,
  isRecord,
  parseCardDto,
  ToolplaneError,
  type ToolResultContent,
  understandError,
} from "@toolplane/protocol";
import type { ClaimedCommand, Patience } from "../gateway/gateway.ts";
import { deliver } from "./deliver.ts";
import type { RunReport } from "./run-report.ts";
import type { RunnerDeps } from "./runner-deps.ts";

export interface RefusedCommand {
  readonly command: ClaimedCommand;
  readonly context: CGContext;
  readonly error: ToolplaneError;
  /** What it breaks, for the log. */
  readonly clause: string;
}

/** For the caller every broken rule is a malformed request (UTP 8.8); the log has the clause. */
const asBadRequest = ({ code, message, detail }: ToolplaneError): ToolplaneError =>
  new ToolplaneError("bad_request", message, { detail: { ...detail, refused: code } });

/** Without a lease there is no natural end of trying; a bus delivers the command again anyway. */
const UNLEASED_PATIENCE_MS = 10_000;

const isCallOf = (card: Card, context: CGContext): boolean => {
  if (card.type !== CARD_TYPES.toolCall || card.project_id !== context.projectId) return false;
  return context.toolCallId === null || (card.tool_call_id ?? card.metadata.tool_call_id) === context.toolCallId;
};

/** The card that names the caller. Any failure to read it counts as "no card", because the refusal can do without. */
const findCard = async (
  { command, context }: RefusedCommand,
  patience: Patience,
  deps: RunnerDeps,
): Promise<Card | undefined> => {
  const cardId = isRecord(command.payload) ? command.payload.tool_call_card_id : undefined;
  if (!isFilled(cardId)) return undefined;
  try {
    const found =
      command.card ?? (await deps.gateway.readCard({ cardId, toolCallId: context.toolCallId ?? undefined }, patience));
    const card = parseCardDto(found);
    return card.card_id === cardId && isCallOf(card, context) ? card : undefined;
  } catch {
    return undefined;
  }
};

const giveBack = async ({ command, context }: RefusedCommand, deps: RunnerDeps): Promise<RunReport> => {
  const { toolCallId } = context;
  const report: RunReport = { outcome: "returned", toolCallId: toolCallId ?? undefined };
  if (command.lease === undefined || toolCallId === null) return report;
  await deps.gateway.release({ toolCallId, leaseId: command.lease.id }).catch((thrown: unknown) => {
    deps.log.warn("a refused command could not be given back", { reason: understandError(thrown).message });
  });
  return report;
};

export const refuseCommand = async (refused: RefusedCommand, deps: RunnerDeps): Promise<RunReport> => {
  const { command, context, clause } = refused;
  const { clock, ids } = deps;
  const error = asBadRequest(refused.error);
  deps.log.warn("a command was refused", {
    call: context.toolCallId,
    clause,
    code: refused.error.code,
    reason: error.message,
  });
  const end = command.lease?.expiresAt ?? clock.now() + UNLEASED_PATIENCE_MS;
  const patience: Patience = { until: () => end };
  const built = buildValidationFailure({
    header: { agentTurnId: context.agentTurnId, toolCallId: context.toolCallId ?? "" },
    card: await findCard(refused, patience, deps),
    payload: command.payload,
    error,
    defaultFunctionName: deps.target,
    context: {
      cardId: ids.uuid(),
      createdAt: new Date(clock.now()).toISOString(),
      projectId: context.projectId,
      authorId: deps.actor,
      source: "tool",
    },
  });
  if (built === undefined) return giveBack(refused, deps);
  const toolCallId = built.card.tool_call_id ?? "";
  const delivered = await deliver(
    { payload: built.payload, card: () => built.card, content: built.card.content as ToolResultContent },
    undefined,
    {
      context,
      toolCallId,
      leaseId: command.lease?.id,
      traceparent: childTraceparent(context.headers[HEADERS.traceparent] ?? "", ids),
      definitionHash: undefined,
      sessionState: undefined,
      patience,
    },
    deps,
  );
  return { outcome: delivered.end, toolCallId, status: built.payload.status, code: error.code };
};
