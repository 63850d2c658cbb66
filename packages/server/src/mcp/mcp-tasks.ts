// tasks/get, tasks/update and tasks/cancel: reads and changes of the call that the task is. Answers are cards under ids derived from
// the call that asked, so the first answer to a question counts and no answer is lost (I7).

import { type CallView, derivedUuid, isSettled, sha256, systemClock } from "@toolplane/engine";
import { isToolplaneError, type JsonObject, type ToolResultContent } from "@toolplane/protocol";
import { personOf } from "../http/actor-of.ts";
import type { McpAsk, McpClient } from "./mcp-ask.ts";
import { settledResult } from "./mcp-calls.ts";
import { invalidParams } from "./mcp-errors.ts";
import { answerable, type Question, type Questions } from "./mcp-input.ts";
import {
  type Answers,
  askForApproval,
  contentOf,
  continueCall,
  decide,
  findOwnCall,
  nextRoundOf,
  questionsOf,
} from "./mcp-rounds.ts";
import { type DetailedTask, planDetailedTask } from "./plan-task.ts";

/** A tool that asks more often is taken to ask for ever. */
const MAX_ROUNDS = 64;

const ANSWER_TYPE = "tool.answer";
/** Stored beside the answers, under a key that no question is likely to have: the person gave the task up. */
const GIVE_UP = "task/give-up";

interface TaskView {
  readonly first: CallView;
  /** The round that the task is in. */
  readonly of: CallView;
  readonly content: ToolResultContent | undefined;
  readonly questions: Questions | undefined;
  readonly answers: Answers;
  readonly givenUp: boolean;
}

const noTask = (taskId: string) => invalidParams(`there is no task ${JSON.stringify(taskId.slice(0, 64))}`);

const answerId = (toolCallId: string, key: string): string => derivedUuid(toolCallId, `answer/${key}`, sha256);

const readAnswersOf = async ({ engine }: McpAsk, of: CallView, keys: readonly string[]) => {
  const ids = [...keys, GIVE_UP].map((key) => answerId(of.toolCallId, key));
  const cards = await engine.cards.getCards(of.projectId, ids);
  const said = new Map<string, JsonObject>();
  for (const { content } of cards) {
    if (content.__type__ !== "JsonContent" || Array.isArray(content.data)) continue;
    const { key, answer } = content.data as { readonly key: string; readonly answer: JsonObject };
    said.set(key, answer);
  }
  const givenUp = said.delete(GIVE_UP);
  return { answers: Object.fromEntries(said), givenUp };
};

const readTask = async (ask: McpAsk, taskId: string): Promise<TaskView> => {
  const first = await findOwnCall(ask, taskId);
  if (first === undefined) throw noTask(taskId);
  let of = first;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const content = isSettled(of.status) ? await contentOf(ask, of) : undefined;
    const questions = content === undefined ? undefined : await questionsOf(ask, of, content);
    if (questions === undefined) return { first, of, content, questions, answers: {}, givenUp: false };
    const [next] = await ask.engine.calls.find([{ projectId: of.projectId, toolCallId: nextRoundOf(of.toolCallId) }]);
    if (next === undefined) {
      const said = await readAnswersOf(ask, of, Object.keys(questions.requests));
      return { first, of, content, questions, ...said };
    }
    of = next;
  }
  throw invalidParams(`task ${taskId} has asked more than ${MAX_ROUNDS} times`);
};

/** What the client still has to answer; undefined when the task waits for nothing of it. */
const openRequests = (
  { questions, answers }: Pick<TaskView, "questions" | "answers">,
  { capabilities }: McpClient,
): Readonly<Record<string, Question>> | undefined => {
  if (questions === undefined) return undefined;
  const open = Object.entries(answerable(questions, capabilities)).filter(([key]) => !Object.hasOwn(answers, key));
  return open.length === 0 ? undefined : Object.fromEntries(open);
};

/** The next round, once all questions are answered; made again by every reader until it is there. */
const goOn = async (ask: McpAsk, { of, questions, answers }: TaskView): Promise<void> => {
  if (questions !== undefined) await continueCall(ask, of, { questions, answers, waitSeconds: 0 });
};

export const getTask = async (ask: McpAsk, client: McpClient, taskId: string): Promise<DetailedTask> => {
  const task = await readTask(ask, taskId);
  const { first, of, content, questions, givenUp } = task;
  const approval = questions === undefined ? await askForApproval(ask, of) : undefined;
  const open = openRequests({ ...task, questions: questions ?? approval }, client);
  const isAnswered = questions !== undefined && open === undefined && !givenUp;
  if (isAnswered) {
    await goOn(ask, task);
    return getTask(ask, client, taskId);
  }
  return planDetailedTask({ first, of, content, open, givenUp, resultOf: () => settledResult(of, content) });
};

const putAnswer = async (ask: McpAsk, of: CallView, key: string, answer: JsonObject): Promise<void> => {
  try {
    await ask.engine.cards.putCards(of.projectId, [
      {
        card_id: answerId(of.toolCallId, key),
        project_id: of.projectId,
        type: ANSWER_TYPE,
        content: { __type__: "JsonContent", data: { key, answer } },
        created_at: new Date(systemClock.now()).toISOString(),
        author_id: ask.caller.actorId,
        metadata: { agent_turn_id: of.agentTurnId, tool_call_id: of.toolCallId },
        tool_calls: null,
        tool_call_id: of.toolCallId,
        ttl_seconds: null,
      },
    ]);
  } catch (error) {
    // Answered before: the first answer counts.
    if (!isToolplaneError(error) || error.code !== "conflict") throw error;
  }
};

export const updateTask = async (ask: McpAsk, client: McpClient, taskId: string, responses: Answers): Promise<void> => {
  const task = await readTask(ask, taskId);
  const { of, questions, givenUp } = task;
  if (givenUp) return;
  if (questions === undefined) {
    await decide(ask, of, responses);
    return;
  }
  for (const [key, answer] of Object.entries(responses))
    if (Object.hasOwn(questions.requests, key)) await putAnswer(ask, of, key, answer);
  const { answers } = await readAnswersOf(ask, of, Object.keys(questions.requests));
  if (openRequests({ questions, answers }, client) === undefined) await goOn(ask, { ...task, answers });
};

export const cancelTask = async (ask: McpAsk, taskId: string): Promise<void> => {
  const { of, questions } = await readTask(ask, taskId);
  if (questions !== undefined) {
    await putAnswer(ask, of, GIVE_UP, {});
    return;
  }
  if (isSettled(of.status)) return;
  await ask.engine.calls.cancel({
    projectId: of.projectId,
    toolCallId: of.toolCallId,
    by: ask.caller.actorId,
    actor: personOf(ask.caller),
    reason: "canceled by an MCP client",
  });
};
