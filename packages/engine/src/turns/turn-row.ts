// Turns and heads as they are stored, and the context a turn speaks in.

import { type CGContext, createContext, HEADERS, type JsonObject, type ResultStatus } from "@toolplane/protocol";
import { type ChainLink, type ChainVersion, chainStart, type Sha256 } from "../calls/turn-chain.ts";
import type { TurnKind } from "./turn.ts";

export type StoredStatus = "queued" | "active" | ResultStatus;
export type HeadStatus = "idle" | "dispatched" | "running" | "suspended";

export interface HeadRow {
  readonly ord: number;
  readonly project_id: string;
  readonly agent_id: string;
  readonly status: HeadStatus;
  readonly active_agent_turn_id: string | null;
  readonly active_channel_id: string | null;
  readonly turn_epoch: number;
  readonly waiting_tool_count: number;
  readonly chain_seq: number;
  readonly chain_hash: string | null;
  /** The database's clock when the head was locked. */
  readonly now_ms: number;
}

export interface TurnRow {
  readonly project_id: string;
  readonly agent_turn_id: string;
  readonly agent_id: string;
  readonly kind: TurnKind;
  readonly status: StoredStatus;
  readonly correlation_id: string;
  readonly request_hash: string;
  readonly source_agent_id: string;
  readonly channel_id: string;
  readonly recursion_depth: number;
  readonly trace_id: string;
  readonly traceparent: string;
  readonly tracestate: string | null;
  readonly parent_traceparent: string | null;
  readonly parent_agent_id: string | null;
  readonly parent_agent_turn_id: string | null;
  readonly parent_step_id: string | null;
  readonly profile_box_id: string;
  readonly context_box_id: string;
  readonly output_box_id: string;
  readonly display_name: string | null;
  readonly payload: string;
  readonly runtime_config: string;
  readonly metadata: string;
  readonly step_count: number;
  readonly turn_epoch: number;
  readonly deliverable_card_id: string | null;
  readonly error: string | null;
  readonly error_code: string | null;
  readonly end_claim_id: string | null;
  readonly chain_version: ChainVersion;
  /** The opening of the chain while the turn is open, its end afterwards; null for an open turn of an earlier version. */
  readonly chain_seq: number | null;
  readonly chain_hash: string | null;
  readonly created_ms: number;
  readonly dispatched_ms: number | null;
}

/** A turn that waits for its agent. */
export interface QueuedRow extends TurnRow {
  readonly inbox_id: string;
  readonly context_headers: string;
  readonly inbox_payload: string;
}

const turnColumns = (payload: string): string => `
  t.project_id, t.agent_turn_id, t.agent_id, t.kind, t.status, t.correlation_id, t.request_hash, t.source_agent_id, t.channel_id,
  t.recursion_depth, t.trace_id, t.traceparent, t.tracestate, t.parent_traceparent, t.parent_agent_id, t.parent_agent_turn_id, t.parent_step_id, t.profile_box_id,
  t.context_box_id, t.output_box_id, t.display_name, ${payload}, t.runtime_config, t.metadata, t.step_count,
  t.turn_epoch::float8 as turn_epoch, t.deliverable_card_id, t.error, t.error_code, t.end_claim_id,
  t.chain_version, t.chain_seq, t.chain_hash,
  floor(extract(epoch from t.created_at) * 1000)::float8 as created_ms,
  floor(extract(epoch from t.dispatched_at) * 1000)::float8 as dispatched_ms`;

/** For the alias `t`. */
export const TURN_COLUMNS = turnColumns("t.payload");
/** Without the payload, which has the arguments of a person's action: a list would read hundreds of them. */
export const TURN_VIEW_COLUMNS = turnColumns("'{}' as payload");

export const parseDocument = (text: string): JsonObject => JSON.parse(text) as JsonObject;

/** Who speaks in a turn: the agent, where its chain of delegations began, and in which trace. */
export const speakerOf = (turn: TurnRow) => ({
  projectId: turn.project_id,
  agentId: turn.agent_id,
  agentTurnId: turn.agent_turn_id,
  channelId: turn.channel_id,
  recursionDepth: turn.recursion_depth,
  parentAgentId: turn.parent_agent_id ?? undefined,
  parentAgentTurnId: turn.parent_agent_turn_id ?? undefined,
  parentStepId: turn.parent_step_id ?? undefined,
  contextBoxId: turn.context_box_id,
  traceparent: turn.traceparent,
  tracestate: turn.tracestate ?? undefined,
  parentTraceparent: turn.parent_traceparent ?? undefined,
});

/** The epoch is the message's: a stop uses the epoch it made, a queued turn has none. */
export const contextOfTurn = (turn: TurnRow, turnEpoch: number, stepId?: string): CGContext =>
  createContext({
    projectId: turn.project_id,
    agentId: turn.agent_id,
    channelId: turn.channel_id,
    agentTurnId: turn.agent_turn_id,
    turnEpoch,
    recursionDepth: turn.recursion_depth,
    stepId,
    traceId: turn.trace_id,
    parentAgentId: turn.parent_agent_id,
    parentAgentTurnId: turn.parent_agent_turn_id,
    parentStepId: turn.parent_step_id,
    headers: {
      [HEADERS.traceparent]: turn.traceparent,
      ...(turn.tracestate === null ? {} : { [HEADERS.tracestate]: turn.tracestate }),
      ...(turn.parent_traceparent === null ? {} : { [HEADERS.parentTraceparent]: turn.parent_traceparent }),
    },
  });

/** The chain of a turn that has said nothing yet. */
export const chainOfTurn = (turn: TurnRow, sha256: Sha256): ChainLink =>
  turn.chain_hash === null || turn.chain_seq === null
    ? chainStart({ projectId: turn.project_id, agentTurnId: turn.agent_turn_id }, sha256, turn.chain_version)
    : { seq: turn.chain_seq, hash: turn.chain_hash };

export const chainOfHead = (head: HeadRow, turn: TurnRow, sha256: Sha256): ChainLink =>
  head.chain_hash === null ? chainOfTurn(turn, sha256) : { seq: head.chain_seq, hash: head.chain_hash };

export const agentKey = (key: { readonly projectId: string; readonly agentId: string }): string =>
  `${key.projectId}/${key.agentId}`;
