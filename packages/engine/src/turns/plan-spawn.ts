// From a request to a turn: who may ask, how deep it is, which trace it belongs to, what it starts from. Pure but for the
// ids and the time passed in.
//   T5, I9. Depth comes from the stored lineage and the policy, never from a header or the caller; a caller that says another
//   one is refused. The turn's id is minted here; a correlation names the request and never becomes the id (it may be the other
//   way round).

import {
  type CGContext,
  canonicalText,
  childTraceparent,
  createContext,
  createTraceparent,
  DEFAULT_CHANNEL,
  egress,
  HEADERS,
  isToken,
  isTrustedActor,
  parseTraceparent,
  ToolplaneError,
  violation,
} from "@toolplane/protocol";
import { checkDepth, type DepthPolicy, planDepth, saidDepthError } from "@toolplane/protocol/agents";
import { CHAIN_VERSION, type Sha256 } from "../calls/turn-chain.ts";
import type { LedgerMeans } from "./ledger.ts";
import { openingCards } from "./opening-cards.ts";
import { contextOfHashes, planOpening } from "./plan-opening.ts";
import type { SpawnItem } from "./prepare-spawn.ts";
import type { SpawnFacts, SpawnRow } from "./spawn.sql.ts";
import type { SpawnedTurn, SpawnRequest, Work } from "./turn.ts";
import type { TurnRow } from "./turn-row.ts";
import type { TurnWrites } from "./turn-write-rows.sql.ts";
import { createTurnWrites } from "./turn-writes.ts";
import { uiAcceptedOf } from "./ui-ack.ts";

/** How deep the asker of a stored turn was: a turn with a parent is one deeper than its asker. */
const askersDepth = ({ recursion_depth: depth, parent_agent_id: parent }: TurnRow): number =>
  parent === null ? depth : depth - 1;

/** The earlier turn under this correlation. */
export const planRepeatedSpawn = (item: SpawnItem, turn: TurnRow): SpawnedTurn | ToolplaneError => {
  if (turn.agent_turn_id !== item.agentTurnId && turn.request_hash !== item.requestHash)
    return new ToolplaneError(
      "idempotency_conflict",
      item.request.kind === "ui_action"
        ? "the key (action_id, Idempotency-Key or message_id) was used for another action; use a new one"
        : `the key ${item.correlationId} (Idempotency-Key or correlation_id) was used for another turn; use a new one`,
      { detail: { agent_turn_id: turn.agent_turn_id } },
    );
  const unlike = saidDepthError(item.request.saidDepth, askersDepth(turn));
  if (unlike !== undefined) return unlike;
  return {
    projectId: turn.project_id,
    agentTurnId: turn.agent_turn_id,
    agentId: turn.agent_id,
    correlationId: turn.correlation_id,
    channelId: turn.channel_id,
    turnEpoch: turn.turn_epoch > 0 ? turn.turn_epoch : null,
    recursionDepth: turn.recursion_depth,
    contextBoxId: turn.context_box_id,
    outputBoxId: turn.output_box_id,
    traceId: turn.trace_id,
    idempotent: turn.agent_turn_id !== item.agentTurnId,
  };
};

const checkFacts = ({ request }: SpawnItem, facts: SpawnFacts): void => {
  const { projectId, agentId, sourceAgentId, lineage } = request;
  if (facts.project_status === null) throw new ToolplaneError("not_found", `there is no project ${projectId}`);
  if (facts.project_status !== "active")
    throw new ToolplaneError("conflict", `project ${projectId} is ${facts.project_status}: it takes no new turns`);
  if (!isTrustedActor(sourceAgentId) && facts.source_active !== true)
    throw new ToolplaneError(
      "invalid_source_actor",
      `${isToken(sourceAgentId) ? sourceAgentId : "the source"} is not an active agent of project ${projectId}`,
    );
  if (facts.agent_status === null)
    throw new ToolplaneError("not_found", `project ${projectId} has no agent ${agentId}: register it first`);
  if (facts.agent_status !== "active")
    throw new ToolplaneError("conflict", `agent ${agentId} is inactive: activate it to give it turns`);
  if (!facts.has_context) throw new ToolplaneError("not_found", "context_box_id names no box of this project");
  if (!facts.has_output) throw new ToolplaneError("not_found", "output_box_id names no box of this project");
  if (!facts.has_profile) throw new ToolplaneError("not_found", "profile_box_id names no box of this project");
  if (request.profileBoxId === undefined && facts.roster_profile === null)
    throw new ToolplaneError("bad_request", `agent ${agentId} has no profile: give it one, or name a profile box`);
  if (lineage !== undefined && facts.lineage_agent !== lineage.agentId)
    throw violation("the lineage names a turn that its agent does not have");
  const unlike = saidDepthError(request.saidDepth, facts.source_depth ?? 0);
  if (unlike !== undefined) throw unlike;
};

interface SpawnTrace {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  readonly parentTraceparent: string | undefined;
}

const traceOf = (request: SpawnRequest, facts: SpawnFacts, ids: LedgerMeans["ids"]): SpawnTrace => {
  const from = request.traceparent ?? facts.lineage_traceparent ?? undefined;
  const tracestate = request.tracestate ?? facts.lineage_tracestate ?? undefined;
  if (from === undefined) return { traceparent: createTraceparent(ids), tracestate, parentTraceparent: undefined };
  if (request.freshTrace === true)
    return { traceparent: createTraceparent(ids), tracestate: undefined, parentTraceparent: from };
  // The same trace continues, with its origin.
  const parentTraceparent = facts.lineage_parent_traceparent ?? undefined;
  return { traceparent: childTraceparent(from, ids), tracestate, parentTraceparent };
};

interface Descent {
  readonly depth: number;
  readonly parent: { readonly agentId: string; readonly agentTurnId?: string; readonly stepId?: string } | undefined;
}

/** An agent that asks without a lineage does not start at the top: it is as deep as the engine knows (I9). */
const descentOfAgent = ({ sourceAgentId, agentId }: SpawnRequest, facts: SpawnFacts): Descent => {
  const depth = facts.source_depth ?? 0;
  if (facts.source_turn_id !== null)
    return { depth: depth + 1, parent: { agentId: sourceAgentId, agentTurnId: facts.source_turn_id } };
  return sourceAgentId === agentId
    ? { depth, parent: undefined }
    : { depth: depth + 1, parent: { agentId: sourceAgentId } };
};

const descentOf = (request: SpawnRequest, facts: SpawnFacts): Descent => {
  const { lineage, depthPolicy, sourceAgentId } = request;
  if (lineage === undefined && depthPolicy === undefined && !isTrustedActor(sourceAgentId))
    return descentOfAgent(request, facts);
  if (lineage === undefined) return { depth: 0, parent: undefined };
  const policy: DepthPolicy = depthPolicy ?? "descend";
  const { agentId, agentTurnId, stepId } = lineage;
  const parent = { agentId, agentTurnId, ...(stepId === undefined ? {} : { stepId }) };
  return { depth: planDepth(facts.lineage_depth ?? 0, policy), parent: policy === "root" ? undefined : parent };
};

/** In the queue, behind another turn. */
const WAITING = { turnEpoch: 0, inboxStatus: "queued", claimId: null, claimSeconds: null, worker: null } as const;

export interface PlannedSpawn {
  readonly item: SpawnItem;
  readonly row: SpawnRow;
  /** As it is before it is dispatched. */
  readonly context: CGContext;
  /** Cards and boxes it starts with. */
  readonly writes: TurnWrites;
  /** All the cards it starts with; undefined when it also starts with cards of others. */
  readonly opening: Work["opening"];
}

const givenContext = (
  { request }: SpawnItem,
  facts: SpawnFacts,
  inherited: ReadonlyMap<string, string>,
  sha256: Sha256,
) =>
  "boxId" in request.context
    ? { contextCards: facts.context_cards ?? 0, contextHash: facts.context_hash }
    : contextOfHashes([...inherited.values()], sha256);

/** `inherited`: the cards of the boxes it inherits with their hashes, in order. Throws what is refused. */
export const planSpawn = (
  item: SpawnItem,
  facts: SpawnFacts,
  inherited: ReadonlyMap<string, string>,
  limits: { readonly maxDepth: number },
  means: LedgerMeans,
): PlannedSpawn => {
  const { request } = item;
  checkFacts(item, facts);
  const { depth, parent } = descentOf(request, facts);
  checkDepth(depth, limits.maxDepth);
  const trace = traceOf(request, facts, means.ids);
  const { traceId } = parseTraceparent(trace.traceparent);
  const kind = request.kind ?? "turn";
  const channelId = request.channelId ?? facts.lineage_channel ?? DEFAULT_CHANNEL;
  const profileBoxId = request.profileBoxId ?? facts.roster_profile ?? "";
  const displayName = request.displayName ?? facts.roster_name ?? undefined;
  const context = createContext({
    projectId: request.projectId,
    agentId: request.agentId,
    channelId,
    agentTurnId: item.agentTurnId,
    turnEpoch: 0,
    recursionDepth: depth,
    traceId,
    parentAgentId: parent?.agentId,
    parentAgentTurnId: parent?.agentTurnId,
    parentStepId: parent?.stepId,
    headers: {
      [HEADERS.traceparent]: trace.traceparent,
      ...(trace.tracestate === undefined ? {} : { [HEADERS.tracestate]: trace.tracestate }),
      ...(trace.parentTraceparent === undefined ? {} : { [HEADERS.parentTraceparent]: trace.parentTraceparent }),
    },
  });
  const documents = {
    payload: canonicalText(request.payload ?? {}),
    runtimeConfig: canonicalText(request.runtimeConfig ?? {}),
    metadata: canonicalText(request.metadata ?? {}),
  };
  const inboxPayload = canonicalText({
    profile_box_id: profileBoxId,
    context_box_id: item.contextBoxId,
    output_box_id: item.outputBoxId,
    runtime_config: request.runtimeConfig ?? {},
    metadata: request.metadata ?? {},
    ...(displayName === undefined ? {} : { display_name: displayName }),
  });
  const asked = {
    projectId: request.projectId,
    agentTurnId: item.agentTurnId,
    agentId: request.agentId,
    kind,
    sourceAgentId: request.sourceAgentId,
    ...documents,
    ...givenContext(item, facts, inherited, means.sha256),
  };
  const task = planOpening(asked, means.sha256);
  const opening = openingCards(item, [...inherited.keys()], task.chain, means);
  const box = { projectId: request.projectId, fresh: true };
  if (!("boxId" in request.context))
    opening.writes.boxes.push({ ...box, boxId: item.contextBoxId, cardIds: JSON.stringify(opening.cardIds) });
  if (request.outputBoxId === undefined) opening.writes.boxes.push({ ...box, boxId: item.outputBoxId, cardIds: "[]" });
  const row: SpawnRow = {
    ...asked,
    correlationId: item.correlationId,
    aliasId: request.aliasId ?? null,
    requestHash: item.requestHash,
    sourceTurnId: request.lineage?.agentTurnId ?? parent?.agentTurnId ?? null,
    sourceStepId: request.lineage?.stepId ?? null,
    channelId,
    recursionDepth: depth,
    traceId,
    traceparent: trace.traceparent,
    tracestate: trace.tracestate ?? null,
    parentTraceparent: trace.parentTraceparent ?? null,
    parentAgentId: parent?.agentId ?? null,
    parentAgentTurnId: parent?.agentTurnId ?? null,
    parentStepId: parent?.stepId ?? null,
    profileBoxId,
    contextBoxId: item.contextBoxId,
    outputBoxId: item.outputBoxId,
    contextOwned: !("boxId" in request.context),
    outputOwned: request.outputBoxId === undefined,
    displayName: displayName ?? null,
    inboxId: item.inboxId,
    contextHeaders: JSON.stringify(egress(context, means.ids, "topology")),
    inboxPayload,
    edgeId: `edge_${item.agentTurnId}`,
    taskHash: task.taskHash,
    chainVersion: CHAIN_VERSION,
    chainSeq: opening.chain.seq,
    chainHash: opening.chain.hash,
    ...WAITING,
  };
  const isWhole = !("boxId" in request.context) && inherited.size === 0 && request.outputBoxId === undefined;
  const said = isWhole ? { context: opening.said, output: [] } : undefined;
  return { item, row, context, writes: opening.writes, opening: said };
};

/** What a person who asked for it is told, when it is known which epoch the turn has. */
export const acceptedOf = ({ context }: PlannedSpawn, row: SpawnRow, means: LedgerMeans): readonly TurnWrites[] => {
  const accepted = uiAcceptedOf(row, createContext({ ...context, turnEpoch: row.turnEpoch }), means);
  return accepted === undefined ? [] : [{ ...createTurnWrites(), messages: [accepted] }];
};

export const spawnedOf = (row: SpawnRow): SpawnedTurn => ({
  projectId: row.projectId,
  agentTurnId: row.agentTurnId,
  agentId: row.agentId,
  correlationId: row.correlationId,
  channelId: row.channelId,
  turnEpoch: row.turnEpoch > 0 ? row.turnEpoch : null,
  recursionDepth: row.recursionDepth,
  contextBoxId: row.contextBoxId,
  outputBoxId: row.outputBoxId,
  traceId: row.traceId,
  idempotent: false,
});
