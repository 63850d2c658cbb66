// tools/call: one durable call, made by the same operation as POST /calls, so that a caller who uses both doors with one key gets
// one call (I12). The client waits for the result; or it gets a task, which is the call; or it is asked something first.
//   - A client that goes away cancels its call only in the revisions that say so (2026-07-28), and never a call with a key: with a
//     key it can come back.

import { SdkError } from "@modelcontextprotocol/server";
import { type CallAnswer, type CallView, isSettled } from "@toolplane/engine";
import { DEFAULT_CHANNEL, type JsonValue, type ToolOptions, type ToolResultContent } from "@toolplane/protocol";
import { makeCall } from "../calls/make-call.ts";
import { API_ACTOR, callerAgent } from "../http/caller-agent.ts";
import { callerHeaders } from "../http/protocol-headers.ts";
import { canTask, type McpAsk, type McpClient } from "./mcp-ask.ts";
import { type McpToolResult, planContent, planFailure, readFailure } from "./mcp-content.ts";
import { capabilitiesNeeded, internalError, invalidParams, refuseCall, tasksNeeded } from "./mcp-errors.ts";
import { answerable, neededCapabilities, planAnswers, type Questions, readAnswers } from "./mcp-input.ts";
import { type CallMeta, META_CALL, META_CARD, META_KEY, META_TRACE, parseCallMeta } from "./mcp-meta.ts";
import { listenToParts } from "./mcp-progress.ts";
import { askForApproval, contentOf, continueCall, decide, findOwnCall, questionsOf } from "./mcp-rounds.ts";
import { type McpTask, planTask } from "./plan-task.ts";

export interface ToolCallAsk {
  readonly name: string;
  readonly arguments: unknown;
  readonly meta: unknown;
  readonly client: McpClient;
  /** The answers of a further round, and what the round before gave the client. */
  readonly inputResponses: unknown;
  readonly requestState: string | undefined;
  /** Told for each part while the client waits; undefined when the client wants none. */
  readonly heard: ((part: JsonValue, progressToken: string | number | undefined) => void) | undefined;
  /** The client no longer wants the result. */
  readonly canceled: AbortSignal;
}

export interface InputNeeded {
  readonly resultType: "input_required";
  readonly inputRequests: Questions["requests"];
  readonly requestState: string;
}

export type TaskMade = McpTask & { readonly resultType: "task" };

export type ToolCallOutcome =
  | { readonly kind: "result"; readonly result: McpToolResult }
  | { readonly kind: "input"; readonly input: InputNeeded }
  | { readonly kind: "task"; readonly task: TaskMade };

/** A call that is done within this gets its result at once; a slower one becomes a task, if the client knows tasks. */
const TASK_AFTER_SECONDS = 1;
/** Clients without tasks give up long before; the call itself goes on. */
const LONGEST_WAIT_SECONDS = 3_600;

type Followed = Pick<CallAnswer, "projectId" | "toolCallId" | "status" | "resultCardId" | "traceId" | "callCardId"> & {
  readonly content?: ToolResultContent | undefined;
};

const metaOf = ({ toolCallId, resultCardId, traceId }: Followed) => ({
  [META_CALL]: toolCallId,
  [META_TRACE]: traceId,
  ...(resultCardId === null ? {} : { [META_CARD]: resultCardId }),
});

/** The result of a settled call. */
export const settledResult = (call: Followed, content: ToolResultContent | undefined): McpToolResult => {
  const outcome =
    call.status === "success"
      ? planContent(content?.result ?? null)
      : planFailure(readFailure(content?.error, call.status), content?.result ?? null);
  return { ...outcome, _meta: { ...outcome._meta, ...metaOf(call) } };
};

const waitSecondsFor = (client: McpClient, options: ToolOptions | undefined): number => {
  const mode = options?.task ?? "auto";
  if (!canTask(client)) {
    if (mode === "required") throw tasksNeeded();
    return LONGEST_WAIT_SECONDS;
  }
  if (mode === "never") return LONGEST_WAIT_SECONDS;
  return mode === "auto" ? TASK_AFTER_SECONDS : 0;
};

const answersIn = (asked: ToolCallAsk) => {
  const answers = readAnswers(asked.inputResponses);
  if (answers === undefined) throw invalidParams("each of inputResponses is an object, by the key of its request");
  return answers;
};

interface Round {
  readonly call: Followed;
  readonly key: string | undefined;
}

/** A further round: what the client was asked about, and its answer. */
const answerRound = async (ask: McpAsk, asked: ToolCallAsk, waitSeconds: number): Promise<Round> => {
  const before = await findOwnCall(ask, asked.requestState ?? "");
  if (before === undefined || before.toolName !== asked.name)
    throw invalidParams("requestState is not one that this server gave to this caller for this tool");
  const answers = answersIn(asked);
  if (before.status === "awaiting_approval") {
    await decide(ask, before, answers);
    return { call: before, key: before.toolCallId };
  }
  const questions = await questionsOf(ask, before);
  if (questions === undefined) return { call: before, key: before.toolCallId };
  return { call: await continueCall(ask, before, { questions, answers, waitSeconds }), key: undefined };
};

const firstRound = async (ask: McpAsk, asked: ToolCallAsk, meta: CallMeta, waitSeconds: number): Promise<Round> => {
  const answers = asked.inputResponses === undefined ? undefined : planAnswers(answersIn(asked));
  const call = await makeCall(
    ask,
    {
      tool_name: asked.name,
      arguments: asked.arguments,
      agent_id: meta.agentId,
      idempotency_key: meta.key,
      wait_seconds: waitSeconds,
    },
    // A model writes the arguments, also when an operator owns the token.
    { headers: callerHeaders(meta.trace), trace: meta.trace, answers, external: true },
  );
  return { call, key: meta.key };
};

/** Whether the end of the request is the end of the call. When a connection breaks, a client may come back for its call. */
const isGivenUp = (ask: McpAsk, client: McpClient, canceled: AbortSignal, key: string | undefined): boolean =>
  client.era === "modern"
    ? ask.gone.aborted && key === undefined
    : canceled.aborted && !(canceled.reason instanceof SdkError);

/** Waits until the call has settled, its client has gone, or the wait is over. */
const waitOut = async (
  ask: McpAsk,
  { call, key }: Round,
  { client, canceled }: ToolCallAsk,
  seconds: number,
): Promise<CallView> => {
  const callKey = { projectId: call.projectId, toolCallId: call.toolCallId };
  await ask.engine.calls.wait(callKey, seconds * 1_000, ask.signal);
  const view = await ask.engine.calls.get(callKey);
  if (isSettled(view.status) || !ask.signal.aborted) return view;
  if (isGivenUp(ask, client, canceled, key))
    await ask.engine.calls.cancel({ ...callKey, by: ask.caller.actorId, reason: "the MCP client closed its request" });
  throw internalError(
    `the wait for call ${call.toolCallId} was ended by the server; the call goes on: call again with the same ${META_KEY}`,
    { [META_CALL]: call.toolCallId },
  );
};

const inputNeeded = (questions: Questions, client: McpClient, toolCallId: string): InputNeeded => {
  const requests = answerable(questions, client.capabilities);
  if (Object.keys(requests).length === 0)
    throw capabilitiesNeeded(
      neededCapabilities(questions),
      `the tool asks something that this client cannot answer: it does not declare ${Object.keys(neededCapabilities(questions)).join(", ")}`,
    );
  return { resultType: "input_required", inputRequests: requests, requestState: toolCallId };
};

const stillRunning = (view: CallView): McpToolResult => ({
  ...planFailure({
    code: "still_running",
    message: `call ${view.toolCallId} is ${view.status} after ${LONGEST_WAIT_SECONDS} seconds, and goes on`,
    detail: { todo: `call again with the same ${META_KEY} to wait on` },
    retryable: true,
  }),
});

const outcomeOf = async (
  ask: McpAsk,
  asked: ToolCallAsk,
  round: Round,
  waitSeconds: number,
): Promise<ToolCallOutcome> => {
  const { client } = asked;
  const { engine } = ask;
  const toTask = canTask(client) && waitSeconds < LONGEST_WAIT_SECONDS;
  const callKey = { projectId: round.call.projectId, toolCallId: round.call.toolCallId };
  // A task at once, also when the call is quicker than the look at it.
  if (toTask && waitSeconds === 0)
    return { kind: "task", task: { resultType: "task", ...planTask(await engine.calls.get(callKey)) } };
  const settled = round.call.content !== undefined && isSettled(round.call.status) ? round.call : undefined;
  let view = settled === undefined ? await engine.calls.get(callKey) : undefined;
  if (view !== undefined && !isSettled(view.status)) {
    const approval = toTask ? undefined : await askForApproval(ask, view);
    if (approval !== undefined && client.capabilities?.elicitation !== undefined)
      return { kind: "input", input: inputNeeded(approval, client, view.toolCallId) };
    if (toTask) return { kind: "task", task: { resultType: "task", ...planTask(view) } };
    view = await waitOut(ask, round, asked, waitSeconds);
    if (!isSettled(view.status)) return { kind: "result", result: stillRunning(view) };
  }
  const call: Followed = settled ?? view ?? round.call;
  const content = call.content ?? (await contentOf(ask, call));
  const whole = view ?? (await engine.calls.get(callKey));
  const questions = await questionsOf(ask, whole, content);
  return questions === undefined
    ? { kind: "result", result: settledResult(call, content) }
    : { kind: "input", input: inputNeeded(questions, client, call.toolCallId) };
};

export const callTool = async (given: McpAsk, asked: ToolCallAsk): Promise<ToolCallOutcome> => {
  const ask = { ...given, signal: AbortSignal.any([given.signal, asked.canceled]) };
  const { engine, projectId, caller } = ask;
  try {
    const meta = parseCallMeta(asked.meta);
    if (!ask.isWanted(asked.name))
      throw invalidParams(`there is no tool ${JSON.stringify(asked.name)} at this address`);
    const [found] = await engine.definitions.resolve([{ projectId, toolName: asked.name }]);
    const options = found?.definition.options;
    const waitSeconds = waitSecondsFor(asked.client, options);
    const { heard } = asked;
    // A task has no progress, so a client that may get one hears none.
    using parts =
      heard === undefined || waitSeconds < LONGEST_WAIT_SECONDS
        ? undefined
        : await listenToParts({
            engine,
            projectId,
            channelId: DEFAULT_CHANNEL,
            agentId: callerAgent(caller, meta.agentId) ?? API_ACTOR,
            heard: (part) => heard(part, meta.progressToken),
          });
    // With a listener the call must have its id before it ends.
    const first = parts === undefined ? waitSeconds : 0;
    const round =
      asked.requestState === undefined
        ? await firstRound(ask, asked, meta, first)
        : await answerRound(ask, asked, first);
    parts?.follow(round.call.toolCallId);
    return await outcomeOf(ask, asked, round, waitSeconds);
  } catch (error) {
    return { kind: "result", result: refuseCall(error) };
  }
};
