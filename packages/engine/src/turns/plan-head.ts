// The head as it shall be. An idle head has no turn, keeps the profile and remembers where the output is.

import type { ChainLink } from "../calls/turn-chain.ts";
import type { HeadRow, HeadStatus, TurnRow } from "./turn-row.ts";
import type { HeadWrite, InboxChange, TurnWrite } from "./turn-write-rows.sql.ts";

export const headInTurn = (
  turn: TurnRow,
  state: {
    readonly status: Exclude<HeadStatus, "idle">;
    readonly epoch: number;
    readonly waiting: number;
    readonly chain: ChainLink | undefined;
    readonly lastOutputBoxId?: string | undefined;
    readonly resumeSeconds?: number | undefined;
  },
): HeadWrite => ({
  projectId: turn.project_id,
  agentId: turn.agent_id,
  status: state.status,
  activeAgentTurnId: turn.agent_turn_id,
  activeChannelId: turn.channel_id,
  turnEpoch: state.epoch,
  activeRecursionDepth: turn.recursion_depth,
  parentStepId: turn.parent_step_id,
  traceId: turn.trace_id,
  profileBoxId: turn.profile_box_id,
  contextBoxId: turn.context_box_id,
  outputBoxId: turn.output_box_id,
  waitingToolCount: state.waiting,
  chainSeq: state.chain?.seq ?? 0,
  chainHash: state.chain?.hash ?? null,
  lastOutputBoxId: state.lastOutputBoxId ?? null,
  resumeSeconds: state.resumeSeconds ?? null,
});

/** What was read with a head, inbox rows and turns with their payloads, is not kept with it. */
const headAlone = ({ ord, project_id, agent_id, turn_epoch, now_ms }: HeadRow) => ({
  ord,
  project_id,
  agent_id,
  turn_epoch,
  now_ms,
});

/** The head as it is read after the transaction that lets the turn run. */
export const headAfter = (head: HeadRow, turn: TurnRow, epoch: number, chain: ChainLink): HeadRow => ({
  ...headAlone(head),
  status: "running",
  active_agent_turn_id: turn.agent_turn_id,
  active_channel_id: turn.channel_id,
  turn_epoch: epoch,
  waiting_tool_count: 0,
  chain_seq: chain.seq,
  chain_hash: chain.hash,
});

/** The head as it is read after the end of its turn, when no other turn follows. */
export const headIdle = (head: HeadRow): HeadRow => ({
  ...headAlone(head),
  status: "idle",
  active_agent_turn_id: null,
  active_channel_id: null,
  waiting_tool_count: 0,
  chain_seq: 0,
  chain_hash: null,
});

export const idleHead = (
  head: Pick<HeadRow, "project_id" | "agent_id">,
  epoch: number,
  lastOutputBoxId: string | null,
): HeadWrite => ({
  projectId: head.project_id,
  agentId: head.agent_id,
  status: "idle",
  activeAgentTurnId: null,
  activeChannelId: null,
  turnEpoch: epoch,
  activeRecursionDepth: 0,
  parentStepId: null,
  traceId: null,
  profileBoxId: null,
  contextBoxId: null,
  outputBoxId: null,
  waitingToolCount: 0,
  chainSeq: 0,
  chainHash: null,
  lastOutputBoxId,
  resumeSeconds: null,
});

/** A change of an inbox row; the default is a row that is over and has no holder. */
export const inboxChange = (
  row: { readonly projectId: string; readonly inboxId: string },
  change: Partial<InboxChange> & Pick<InboxChange, "status">,
): InboxChange => ({
  turnEpoch: null,
  claimId: null,
  claimSeconds: null,
  worker: null,
  retries: 0,
  delaySeconds: 0,
  reason: null,
  error: null,
  ...row,
  ...change,
});

/** A turn that goes on. */
export const turnGoesOn = (turn: TurnRow, epoch: number, change: Partial<TurnWrite> = {}): TurnWrite => ({
  projectId: turn.project_id,
  agentTurnId: turn.agent_turn_id,
  status: "active",
  stepCount: turn.step_count,
  turnEpoch: epoch,
  deliverableCardId: null,
  error: null,
  errorCode: null,
  endClaimId: null,
  chainSeq: null,
  chainHash: null,
  dispatched: false,
  ended: false,
  ...change,
});
