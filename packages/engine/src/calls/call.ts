// A call: one tool invocation, from its tool.call card to its one settlement.
//
// queued --lease--> running --settle--> success | failed | canceled | timeout | partial
//   ^                 |
//   +----release------+   the holder did not start it
//   +----lapse--------+   the holder is gone and the tool is `retry: safe`; otherwise the call settles outcome_unknown
//
// CallFacts never change once the call exists, so they may be remembered anywhere. What does change (status, lease,
// settlement) is only ever decided by a conditional UPDATE in the database.

import type { AfterExecution, ResultStatus } from "@toolplane/protocol";

export type LiveStatus = "queued" | "running" | "awaiting_approval";
export type CallStatus = LiveStatus | ResultStatus;

export interface CallKey {
  readonly projectId: string;
  readonly toolCallId: string;
}

export interface Lineage {
  readonly step_id?: string;
  readonly trace_id?: string;
  readonly parent_step_id?: string;
}

export interface CallFacts extends CallKey {
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly turnEpoch: number;
  readonly stepId: string;
  readonly headless: boolean;
  readonly channelId: string;
  readonly providerCallId: string | null;
  readonly toolName: string;
  readonly toolVersion: number;
  readonly definitionHash: string;
  readonly subject: string;
  readonly target: string;
  /** The actor the command is sent to, and the only one whose result counts. */
  readonly actorId: string;
  readonly afterExecution: AfterExecution;
  readonly callCardId: string;
  readonly callCardHash: string;
  /** The command's headers as sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** step_id, trace_id, parent_step_id of the tool.call card, copied verbatim into the result. */
  readonly lineage: Lineage;
  readonly recursionDepth: number;
  readonly traceId: string;
  readonly retrySafe: boolean;
  readonly plain: boolean;
  readonly timeoutSeconds: number;
  /** The key of its session; null when it has none. */
  readonly session: string | null;
}

export interface CallView extends CallFacts {
  readonly status: CallStatus;
  readonly idempotencyKey: string | null;
  readonly retryOf: string | null;
  readonly attempts: number;
  /** How often its command was sent; more than once only where a bus beside the database carries it. */
  readonly publishes: number;
  readonly leaseId: string | null;
  readonly leaseHolder: string | null;
  readonly leaseExpiresAt: Date | null;
  readonly runDeadline: Date | null;
  readonly queueDeadline: Date;
  readonly availableAt: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly settledAt: Date | null;
  readonly settledBy: string | null;
  readonly resultCardId: string | null;
  readonly resultHash: string | null;
  readonly errorCode: string | null;
}

export const callKey = (key: CallKey): string => `${key.projectId}/${key.toolCallId}`;

const SETTLED: ReadonlySet<string> = new Set(["success", "failed", "canceled", "timeout", "partial"]);
export const isSettled = (status: CallStatus): status is ResultStatus => SETTLED.has(status);
