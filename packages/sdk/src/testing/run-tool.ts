// Runs one tool in a test as a service would, with the runner that services use: the arguments are checked by the tool's schema, its
// secrets are injected and removed from what it gives back, its result must be JSON, and a deadline holds. What only a plane does
// (layered arguments, approvals, a check of plain JSON Schema) is tested with `openPlane` of @toolplane/server.

import {
  createToolCallCard,
  HEADERS,
  isErrorCode,
  isRecord,
  type JsonObject,
  type JsonValue,
  ToolplaneError,
  toolCommandSubject,
} from "@toolplane/protocol";
import type { ServiceResult, ToolGateway } from "../gateway/gateway.ts";
import { type Clock, systemClock } from "../ports/clock.ts";
import { createIds, sha256 } from "../ports/ids.ts";
import { type Log, silentLog } from "../ports/log.ts";
import { createRunner } from "../runner/runner.ts";
import type { Tool } from "../tools/define-tool.ts";
import { createFunctionExecutor } from "../tools/function-executor.ts";

export interface RunToolOptions {
  /** Values of the variables that the tool names in `secrets` and `envs`; nothing is read from the environment. */
  readonly secrets?: Readonly<Record<string, string>> | undefined;
  /** Aborted: the tool's own signal is aborted, as when its service stops. */
  readonly signal?: AbortSignal | undefined;
  /** What the tool shows with `emit`. */
  readonly onPart?: ((part: JsonValue) => void) | undefined;
  readonly log?: Log | undefined;
  /** Who calls; `sys.test` unless given. */
  readonly agent?: string | undefined;
  /** More than 1: another service had the call before and was lost. */
  readonly attempt?: number | undefined;
  readonly clock?: Clock | undefined;
}

const PROJECT = "test";
const TARGET = "test";
/** Longer than any test. */
const LEASE_MS = 3_600_000;

const commandFor = (tool: Tool, args: JsonObject, { agent = "sys.test", attempt }: RunToolOptions, now: number) => {
  const toolCallId = "call_test";
  const [turnId, stepId] = [`turn_${toolCallId}`, `step_${toolCallId}`];
  const card = createToolCallCard({
    cardId: `card_${toolCallId}`,
    projectId: PROJECT,
    createdAt: new Date(now).toISOString(),
    authorId: agent,
    agentTurnId: turnId,
    toolCallId,
    toolName: tool.name,
    arguments: args,
    lineage: { step_id: stepId, trace_id: "0".repeat(31).concat("1") },
    argsEnvs: tool.options.envs,
  });
  return {
    subject: toolCommandSubject({ projectId: PROJECT, channelId: "public" }, TARGET, tool.name),
    headers: {
      [HEADERS.projectId]: PROJECT,
      [HEADERS.channelId]: "public",
      [HEADERS.agentId]: agent,
      [HEADERS.turnId]: turnId,
      [HEADERS.turnEpoch]: "0",
      [HEADERS.stepId]: stepId,
      [HEADERS.toolCallId]: toolCallId,
      [HEADERS.recursionDepth]: "0",
    },
    payload: { tool_call_card_id: card.card_id, tool_name: tool.name, after_execution: tool.afterExecution },
    lease: { id: "lease_test", expiresAt: now + LEASE_MS },
    attempt,
    card,
  };
};

const errorOf = ({ status, error }: ServiceResult): ToolplaneError => {
  const said = isRecord(error) ? error : {};
  const code = isErrorCode(said.code) ? said.code : "tool_error";
  return new ToolplaneError(code, String(said.message ?? `the tool ended with ${status}`), {
    ...(isRecord(said.detail) ? { detail: said.detail } : {}),
  });
};

/** The result as a caller would get it; throws the error that a caller would get. */
export const runTool = async (tool: Tool, args: JsonObject, options: RunToolOptions = {}): Promise<JsonValue> => {
  const { clock = systemClock, log = silentLog, secrets = {} } = options;
  let settled: ServiceResult | undefined;
  const never = async (): Promise<never> => {
    throw new ToolplaneError("internal_error", "a tool under test has no plane");
  };
  const gateway: ToolGateway = {
    projectId: PROJECT,
    claim: never,
    readCard: never,
    readDefinition: never,
    putCard: never,
    report: never,
    findTool: never,
    register: never,
    release: async () => undefined,
    heartbeat: async () => ({ expiresAt: clock.now() + LEASE_MS, cancel: false }),
    settle: async (result) => {
      settled = result;
      return { toolResultCardId: "card_result", idempotent: false };
    },
    sendParts: ({ parts }) => {
      for (const { part } of parts) options.onPart?.(part);
    },
  };
  const runner = createRunner({
    gateway,
    executor: createFunctionExecutor({ tools: [tool], sha256, projectId: PROJECT, target: TARGET }),
    target: TARGET,
    clock,
    random: Math.random,
    ids: createIds(clock.now),
    log,
    secrets: (name) => secrets[name],
    maxAttempts: 1,
  });
  await runner.handle(commandFor(tool, args, options, clock.now()), options.signal);
  if (settled === undefined) throw new ToolplaneError("canceled", "the tool was stopped before it had a result");
  if (settled.status !== "success") throw errorOf(settled);
  return settled.result;
};
