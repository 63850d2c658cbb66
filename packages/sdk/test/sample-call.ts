// One call as the plane would hand it out: a command with headers and the card it points to.

import { buildResult, type Card, createToolCallCard, HEADERS, type JsonObject } from "@toolplane/protocol";
import type { ClaimedCommand } from "../src/gateway/gateway.ts";
import type { Ids } from "../src/ports/ids.ts";

export const PROJECT = "demo";
export const TARGET = "text";
export const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
export const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

export interface SampleOptions {
  readonly callId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly args?: JsonObject | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly payload?: unknown;
  readonly subject?: string | undefined;
  readonly leaseId?: string | null | undefined;
  readonly expiresAt?: number | undefined;
  readonly runDeadline?: number | undefined;
  readonly agentId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly argsEnvs?: Readonly<Record<string, string>> | undefined;
  readonly definitionHash?: string | undefined;
  readonly session?: JsonObject | undefined;
}

export interface SampleCall {
  readonly command: ClaimedCommand;
  readonly card: Card;
}

const LINEAGE = { step_id: "step_1", trace_id: TRACE_ID, parent_step_id: "step_0" } as const;

export const sampleCall = (options: SampleOptions = {}): SampleCall => {
  const { callId = "call_1", toolName = "count_words", agentId = "agent_a" } = options;
  const card = createToolCallCard({
    cardId: `card_${callId}`,
    projectId: PROJECT,
    createdAt: "2026-11-15T00:00:00.000Z",
    authorId: agentId,
    agentTurnId: "turn_1",
    toolCallId: callId,
    toolName,
    arguments: options.args ?? { text: "one two three" },
    lineage: LINEAGE,
    argsEnvs: options.argsEnvs,
    definitionHash: options.definitionHash,
    extra: options.metadata,
  });
  const headers = {
    [HEADERS.projectId]: PROJECT,
    [HEADERS.channelId]: "public",
    [HEADERS.agentId]: agentId,
    [HEADERS.turnId]: "turn_1",
    [HEADERS.turnEpoch]: "3",
    [HEADERS.stepId]: "step_1",
    [HEADERS.toolCallId]: callId,
    [HEADERS.recursionDepth]: "1",
    [HEADERS.traceparent]: TRACEPARENT,
    ...options.headers,
  };
  const { leaseId = "lease_1", expiresAt = 1_800_000_015_000 } = options;
  const command: ClaimedCommand = {
    subject: options.subject ?? `cg.v1r4.${PROJECT}.public.cmd.tool.${TARGET}.${toolName}`,
    headers: Object.fromEntries(
      Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    payload: "payload" in options ? options.payload : payloadOf(card, toolName),
    lease: leaseId === null ? undefined : { id: leaseId, expiresAt },
    runDeadline: options.runDeadline,
    session: options.session,
  };
  return { command, card };
};

export const payloadOf = (card: Card, toolName: string): JsonObject => ({
  tool_call_card_id: card.card_id,
  tool_name: toolName,
  after_execution: "suspend",
});

/** Ids that count, so that a test can name them. */
export const countingIds = (): Ids => {
  let count = 0;
  const next = (width: number): string => {
    count += 1;
    return count.toString(16).padStart(width, "0");
  };
  return { uuid: () => next(32), traceId: () => next(32), spanId: () => next(16) };
};

/** The card and the report of a result. */
export const built = buildResult(
  {
    cardId: "card_r",
    createdAt: "2026-11-15T00:00:00Z",
    projectId: "demo",
    agentTurnId: "turn_1",
    toolCallId: "call_1",
    authorId: "tool.text",
    toolName: "count_words",
  },
  { status: "success", result: 3 },
);
