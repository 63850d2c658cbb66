// The rounds of a call that asks questions, and what a person decides about a call that waits. The next round is a call of its own
// under an id that is derived from the round before it, so it exists once, whichever process makes it.

import { type CallView, derivedUuid, isSettled, sha256 } from "@toolplane/engine";
import { type Card, isRecord, type JsonObject, type ToolResultContent } from "@toolplane/protocol";
import { makeCall } from "../calls/make-call.ts";
import { parametersOf, planShownArguments } from "../calls/shown-arguments.ts";
import { actorOf } from "../http/actor-of.ts";
import { OPERATORS } from "../http/route.ts";
import type { McpAsk } from "./mcp-ask.ts";
import { approvalQuestion, planAnswers, type Questions, readQuestions, readVerdict } from "./mcp-input.ts";

export type Answers = Readonly<Record<string, JsonObject>>;

export const nextRoundOf = (toolCallId: string): string => derivedUuid(toolCallId, "input", sha256);

/** A call that the caller may see; undefined for any other id, so that ids cannot be tried out. */
export const findOwnCall = async ({ engine, own, projectId }: McpAsk, id: string): Promise<CallView | undefined> => {
  const [view] = await engine.calls.find([{ projectId, toolCallId: id }]);
  if (view === undefined) return undefined;
  return (await own.among("call", [id])).has(id) ? view : undefined;
};

/** The content of a settled call's result. */
export const contentOf = async (
  { engine }: Pick<McpAsk, "engine">,
  { projectId, resultCardId }: Pick<CallView, "projectId" | "resultCardId">,
): Promise<ToolResultContent | undefined> => {
  if (resultCardId === null) return undefined;
  const [card] = await engine.cards.getCards(projectId, [resultCardId]);
  return card?.content.__type__ === "ToolResultContent" ? card.content : undefined;
};

const names = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];

/** The arguments that the caller gave, from the card of the call: without what the author fixed. */
const callerArguments = ({ content, metadata }: Pick<Card, "content" | "metadata">): JsonObject => {
  if (content.__type__ !== "ToolCallContent" || !isRecord(content.arguments)) return {};
  const managed = new Set([
    ...names(metadata.tool_args_fixed_applied),
    ...Object.keys(isRecord(metadata.tool_args_envs) ? metadata.tool_args_envs : {}),
  ]);
  return Object.fromEntries(Object.entries(content.arguments).filter(([name]) => !managed.has(name))) as JsonObject;
};

const parameterFor = async ({ engine }: McpAsk, view: CallView): Promise<string | undefined> => {
  const version = await engine.definitions.resolveVersion(view.projectId, view.toolName, view.toolVersion);
  return version?.definition.options.input;
};

/** What a settled call asks, if its tool can take answers. */
export const questionsOf = async (
  ask: McpAsk,
  view: CallView,
  content?: ToolResultContent,
): Promise<Questions | undefined> => {
  if (view.status !== "success") return undefined;
  const found = readQuestions(content ?? (await contentOf(ask, view)));
  return found !== undefined && (await parameterFor(ask, view)) !== undefined ? found : undefined;
};

/**
 * Makes the next round with the arguments of the round that asked, whatever the client sends now: what a person confirmed is what
 * runs.
 */
export const continueCall = async (
  ask: McpAsk,
  asked: CallView,
  { questions, answers, waitSeconds }: { questions: Questions; answers: Answers; waitSeconds: number },
) => {
  const [card] = await ask.engine.cards.getCards(asked.projectId, [asked.callCardId]);
  return makeCall(
    { ...ask, signal: ask.signal },
    {
      tool_name: asked.toolName,
      arguments: card === undefined ? {} : callerArguments(card),
      ...(asked.agentId === "sys.api" ? {} : { agent_id: asked.agentId }),
      channel_id: asked.channelId,
      wait_seconds: waitSeconds,
    },
    { toolCallId: nextRoundOf(asked.toolCallId), answers: planAnswers(answers, questions.state), external: true },
  );
};

const mayDecide = ({ caller }: Pick<McpAsk, "caller">): boolean => OPERATORS.includes(caller.token.role);

/** The question about a call that waits for a person; only for callers who may decide. */
export const askForApproval = async (ask: McpAsk, view: CallView): Promise<Questions | undefined> => {
  if (view.status !== "awaiting_approval" || !mayDecide(ask)) return undefined;
  const [card] = await ask.engine.cards.getCards(view.projectId, [view.callCardId]);
  const shown = card && planShownArguments(card, await parametersOf(ask.engine, view), false);
  return approvalQuestion(view.toolName, shown?.arguments ?? {});
};

/** Carries out the person's answer. When the call no longer waits, the answer changes nothing. */
export const decide = async (ask: McpAsk, view: CallView, answers: Answers): Promise<void> => {
  const verdict = readVerdict(answers);
  if (verdict === undefined || !mayDecide(ask) || isSettled(view.status)) return;
  const { caller, engine } = ask;
  await engine.approvals[verdict.verb]({
    projectId: view.projectId,
    toolCallId: view.toolCallId,
    by: caller.token.label || caller.actorId,
    reason: verdict.reason,
    actor: actorOf(caller),
  });
};
