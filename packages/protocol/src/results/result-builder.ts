// Builds the two things a tool service returns: the tool.result card and the callback that points to it.
// I11. Card and callback repeat the command's after_execution, always; a wish for another value lives inside the result.
// Lineage is copied from the tool.call card, verbatim; nothing about identity is taken from a payload.

import type { Card } from "../cards/card.ts";
import type { ToolResultContent } from "../cards/content.ts";
import { createToolResultCard } from "../cards/tool-cards.ts";
import { violation } from "../errors/toolplane-error.ts";
import { isFilled, type JsonCaps, type JsonObject } from "../json/json-value.ts";
import type { CallbackPayload } from "../payloads/callback.ts";
import { UNKNOWN_TOOL_NAME } from "../payloads/command.ts";
import type { ErrorSource } from "./error-envelope.ts";
import { normaliseResult } from "./normalise-result.ts";
import { coerceStatus } from "./value-sets.ts";

export interface ResultContext {
  readonly cardId: string;
  readonly createdAt: string;
  readonly projectId: string;
  readonly agentTurnId: string;
  readonly toolCallId: string;
  /** The reporting actor, for example `tool.text`; a report by any other actor is refused. */
  readonly authorId: string;
  /** The command's. */
  readonly toolName?: string | undefined;
  readonly afterExecution?: unknown;
  /** The builder's own default where neither the call nor the command names a function. */
  readonly functionName?: string | undefined;
  /** The tool.call card's metadata. */
  readonly toolCallMetadata?: JsonObject | undefined;
  readonly definitionHash?: string | undefined;
  readonly extra?: JsonObject | undefined;
  readonly source?: ErrorSource | undefined;
  /** A failure without a result of its own shows its error there too (D-23); its secrets are out of it by then. */
  readonly mirrorError?: boolean | undefined;
  readonly caps?: JsonCaps | undefined;
}

export interface ResultOutcome {
  readonly status: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
  /** An explicit wish for the turn; absent means: as the command says. */
  readonly afterExecution?: unknown;
  readonly functionName?: string | undefined;
}

export interface BuiltResult {
  readonly card: Card;
  readonly payload: CallbackPayload;
}

/** A result whose card is made where it is needed: a service that reports in one step sends none. */
export interface ResultDraft extends Omit<BuiltResult, "card"> {
  readonly content: ToolResultContent;
  /** With this content, or another that says the same of status and turn. */
  card(content?: ToolResultContent): Card;
}

const requireIdentity = (context: ResultContext): void => {
  const missing = (["projectId", "agentTurnId", "toolCallId", "authorId"] as const).filter(
    (key) => !isFilled(context[key]),
  );
  if (missing.length > 0) throw violation(`a result needs ${missing.join(", ")}`, { fields: missing });
};

const nameFunction = (context: ResultContext, outcome: { readonly functionName?: string | undefined }): string =>
  [outcome.functionName, context.functionName, context.toolName].find(isFilled) ?? UNKNOWN_TOOL_NAME;

const assemble = (context: ResultContext, functionName: string, content: ToolResultContent): ResultDraft => ({
  content,
  card: (shown = content) =>
    createToolResultCard({
      cardId: context.cardId,
      projectId: context.projectId,
      createdAt: context.createdAt,
      authorId: context.authorId,
      agentTurnId: context.agentTurnId,
      toolCallId: context.toolCallId,
      functionName,
      content: shown,
      lineage: context.toolCallMetadata,
      definitionHash: context.definitionHash,
      extra: context.extra,
    }),
  payload: Object.freeze({
    after_execution: content.after_execution,
    status: coerceStatus(content.status),
    tool_result_card_id: context.cardId,
  }),
});

const draft = (context: ResultContext, outcome: ResultOutcome, mirrorError: boolean): ResultDraft => {
  requireIdentity(context);
  const content = normaliseResult({
    status: outcome.status,
    result: outcome.result,
    error: outcome.error,
    commandAfterExecution: context.afterExecution,
    afterExecution: outcome.afterExecution,
    mirrorError,
    source: context.source ?? "tool",
    ...(context.caps === undefined ? {} : { caps: context.caps }),
  });
  return assemble(context, nameFunction(context, outcome), content);
};

export const draftResult = (context: ResultContext, outcome: ResultOutcome): ResultDraft =>
  draft(context, outcome, context.mirrorError === true);

/** A failure from an exception, an error object or a text; without a result of its own it shows the error there too. */
export const draftFailure = (
  context: ResultContext,
  error: unknown,
  outcome: Partial<Omit<ResultOutcome, "error">> = {},
): ResultDraft => draft(context, { status: "failed", ...outcome, error: error ?? "unknown error" }, true);

const built = ({ card, payload }: ResultDraft): BuiltResult => ({ card: card(), payload });

export const buildResult = (...given: Parameters<typeof draftResult>): BuiltResult => built(draftResult(...given));

export const buildFailure = (...given: Parameters<typeof draftFailure>): BuiltResult => built(draftFailure(...given));
