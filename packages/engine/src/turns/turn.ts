// Turns: what the agent side asks of the engine. Everything an agent does moves through six short transactions.
//
//   spawn    a turn is written down (queued) and, if its agent is idle, dispatched at once
//   advance  an agent's inbox is drained and its head moved, both or neither (I5): results applied, the turn resumed,
//            ended, or begun. What is left to do is work: the right to think for one turn, under a claim
//   begin    the row and the event of a step, written once. The first step of taken work begins where the work is taken
//   commit   one step of that work: its cards, its calls, the head running -> suspended (or running on)
//   finish   the turn ends: one deliverable, one task event (I10), the head idle, the next queued turn dispatched
//   stop     the same from outside: open calls are canceled in the transaction that ends the turn
//
//   T1. Work is a row (an inbox row in `processing`), never memory: a claim that lapses is offered to the next worker,
//       which finds the turn where the last committed step left it.
//   T2. A worker that lost its claim, or whose turn or epoch is not current, changes nothing (I2): every commit names
//       claim, turn and epoch.
//   T3. A step leaves cards, boxes, events and calls in one commit. A crash in the middle of thinking leaves only
//       "step started". The step's id is derived from the turn and its number, so the step starts again under the same id.
//   T4. A worker that lost the answer of a commit asks again and gets what was written.
//   T5. Depth is computed here from the stored lineage; nothing a caller says overrides it (I9).

import type { Card, JsonObject, ResultStatus, ToolplaneError } from "@toolplane/protocol";
import type { DepthPolicy, ResultField } from "@toolplane/protocol/agents";
import type { Actor } from "../audit/audit.ts";
import type { CallAsk } from "../calls/plan-call.ts";
import type { Queryer } from "../sql/database.ts";
import type { ListedBoxes, LongCard, LongReading, TurnBoxes, TurnBoxesAsk } from "./listed-boxes.ts";

export interface TurnKey {
  readonly projectId: string;
  readonly agentTurnId: string;
}

export interface AgentKey {
  readonly projectId: string;
  readonly agentId: string;
}

export type TurnKind = "turn" | "ui_action";

/** While the turn lives, the head's status; afterwards how it ended. */
export type TurnStatus = "queued" | "dispatched" | "running" | "suspended" | ResultStatus;

// ------------------------------------------------------------------------------------------------------------- spawn

/** The turn a new one descends from; its depth, trace and channel are read from the database. */
export interface SpawnLineage {
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly stepId?: string | undefined;
}

/** What the new turn is about: a box that exists, or what goes into a new one (inherited cards first). */
export type TurnContext =
  | { readonly boxId: string }
  | {
      readonly inheritBoxIds?: readonly string[] | undefined;
      /** Cards in place of boxes, for a caller that was asked about each of them; a box may get others meanwhile. */
      readonly inheritCardIds?: readonly string[] | undefined;
      /** Author of the instruction card; the asking actor when left out. */
      readonly packedBy?: string | undefined;
      /** May be empty where cards are inherited. */
      readonly instruction: string;
      readonly resultFields?: readonly ResultField[] | undefined;
      /** Further cards for the new box, after the instruction (a `meta.parent_pointer`). */
      readonly cards?: readonly Card[] | undefined;
    };

export interface SpawnRequest extends AgentKey {
  /** The asking actor: `sys.*` and `tool.*` are trusted, any other must be an active agent of the project. */
  readonly sourceAgentId: string;
  readonly kind?: TurnKind | undefined;
  readonly lineage?: SpawnLineage | undefined;
  /**
   * `descend` with a lineage, `root` without. An agent that asks without a lineage descends from the turn it is in; outside of
   * its turns from itself, and a turn for itself is then as deep as it was made.
   */
  readonly depthPolicy?: DepthPolicy | undefined;
  /** How deep the asking actor says it is; the turn is refused when the engine counts another depth (I9). */
  readonly saidDepth?: number | undefined;
  readonly context: TurnContext;
  /** The boxes that the caller named, where the turn begins with their cards: asked again, the same boxes are the same request. */
  readonly namedBoxIds?: readonly string[] | undefined;
  /** The roster's profile when left out. */
  readonly profileBoxId?: string | undefined;
  /** A new box when left out. */
  readonly outputBoxId?: string | undefined;
  readonly channelId?: string | undefined;
  /**
   * Names the request: the same correlation of the same asker for the same agent is the same turn (T4), with another
   * instruction it is `conflict`. It belongs to its asker: others may use the same word (I12). Never the turn id.
   */
  readonly correlationId?: string | undefined;
  /** A second name of the request, also used once: when either comes again, it names this turn. */
  readonly aliasId?: string | undefined;
  readonly displayName?: string | undefined;
  /** For a ui_action: its tool and arguments. */
  readonly payload?: JsonObject | undefined;
  readonly runtimeConfig?: JsonObject | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** One child of a fan-out: a trace of its own, linked to the asking one. */
  readonly freshTrace?: boolean | undefined;
}

export interface SpawnedTurn extends TurnKey {
  readonly agentId: string;
  readonly correlationId: string;
  readonly channelId: string;
  /** Null while it is queued behind another turn. */
  readonly turnEpoch: number | null;
  readonly recursionDepth: number;
  readonly contextBoxId: string;
  readonly outputBoxId: string;
  readonly traceId: string;
  /** This correlation was spawned before. */
  readonly idempotent: boolean;
}

// ----------------------------------------------------------------------------------------------------------- advance

export interface AdvanceRequest extends AgentKey {
  /** The worker that will think; shown to people. */
  readonly workerId: string;
  /** False: apply what arrived, but leave the work to a worker with room. */
  readonly takeWork: boolean;
  /** The pools of the caller: work of another pool's agent is left alone. All pools when left out. */
  readonly workerTargets?: readonly string[] | undefined;
  /** The step that begins with the work, in the same transaction; none when it is left out or says undefined. */
  readonly stepOf?: ((work: Work) => string | undefined) | undefined;
}

/** The right to think for one turn, until the claim lapses. */
export interface Work extends TurnKey, AgentKey {
  readonly kind: TurnKind;
  readonly inboxId: string;
  readonly claimId: string;
  readonly turnEpoch: number;
  /** Steps of this turn that were committed; the next step is this plus one. */
  readonly stepCount: number;
  readonly channelId: string;
  readonly recursionDepth: number;
  readonly traceId: string;
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
  readonly parentTraceparent?: string | undefined;
  readonly parentAgentId?: string | undefined;
  readonly parentAgentTurnId?: string | undefined;
  readonly parentStepId?: string | undefined;
  readonly profileBoxId: string;
  readonly contextBoxId: string;
  readonly outputBoxId: string;
  readonly displayName?: string | undefined;
  readonly payload: JsonObject;
  readonly runtimeConfig: JsonObject;
  readonly metadata: JsonObject;
  /** For timing fields, on the database's clock. */
  readonly inboxCreatedAtMs: number;
  readonly claimedAtMs: number;
  readonly turnCreatedAtMs: number;
  /** When the turn began: its agent was free for it. */
  readonly turnDispatchedAtMs: number;
  /** The step that began when the work was taken. */
  readonly begunStepId?: string | undefined;
  /** What the turn begins with, when this process has just written all of it. */
  readonly opening?: TurnBoxes | undefined;
}

export interface Advanced {
  readonly work?: Work | undefined;
  /** Results applied in this transaction. */
  readonly applied: number;
  readonly ended?: TurnEnd | undefined;
  /** There is work, and it was left because `takeWork` was false. */
  readonly workLeft: boolean;
}

// -------------------------------------------------------------------------------------------------- commit and finish

/** `step_<turn>_<number>`: the same step gets the same id again after a crash. */
export const stepIdOf = (agentTurnId: string, stepNumber: number, kind: TurnKind = "turn"): string =>
  `${kind === "ui_action" ? "step_ui" : "step"}_${agentTurnId.replace(/^turn_/, "")}_${stepNumber}`;

/** The step that a stop writes: a turn is stopped once, so its id is the turn's. */
export const stopStepIdOf = (agentTurnId: string): string => `step_stop_${agentTurnId.replace(/^turn_/, "")}`;

/** In the order in which they enter the output box. */
export type StepEntry =
  /** A card of the step. `show: false` keeps it out of the output box (rendered prompt, tools). */
  | { readonly card: Card; readonly show?: boolean | undefined }
  /**
   * A call the brain asked for. With `refuse` it is not dispatched: it gets its tool.call card and one failed result.
   * The engine refuses by itself what it cannot plan (unknown tool, arguments against the schema, ...), the same way.
   */
  | { readonly call: CallAsk; readonly refuse?: ToolplaneError | undefined };

export interface StepCommit {
  readonly stepId: string;
  readonly entries: readonly StepEntry[];
  /** llm_usage, llm_response_cost, timing: stored with the step and shown in its events. */
  readonly metadata?: JsonObject | undefined;
  /** A turn that waits longer than this for its calls is ended by the watchdog: its time is over. */
  readonly resumeSeconds?: number | undefined;
  /** The step wanted to end the turn and was refused (`inbox_not_empty`): the turn waits until the inbox is drained. */
  readonly blocked?: boolean | undefined;
}

export interface CommittedCall {
  readonly toolCallId: string;
  readonly callCardId: string;
  readonly toolName: string;
  readonly providerCallId: string | null;
  /** The failed result of a call that was not dispatched. */
  readonly refusal?: ToolplaneError | undefined;
}

export interface CommittedStep {
  /** `suspended`: the work is over until results arrive. `running`: every call was refused; think on. */
  readonly next: "suspended" | "running";
  readonly calls: readonly CommittedCall[];
  readonly stepCount: number;
}

export type Deliverable = string | JsonObject | readonly unknown[];

export interface TurnFinish {
  /** The step in which it ends; absent when it ends between steps. */
  readonly stepId?: string | undefined;
  /** Cards only. */
  readonly entries?: readonly StepEntry[] | undefined;
  readonly status: ResultStatus;
  /** Absent: the newest deliverable of the output box counts, else a fallback is made. */
  readonly deliverable?: Deliverable | undefined;
  readonly error?: string | undefined;
  readonly errorCode?: string | undefined;
  /** The result that decided it, for the task event. */
  readonly toolResultCardId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** Goes into the task event's stats beside duration_ms. */
  readonly stats?: JsonObject | undefined;
  /** The agent ends its turn by a tool: refused with `inbox_not_empty` while messages wait that the turn has not seen. */
  readonly guard?: boolean | undefined;
}

/** A turn that has ended, and the name of what asked for it. */
export interface EndedKey extends TurnKey {
  readonly correlationId: string;
  /** The turn as it was written here, for callers that wait in this process. */
  readonly news?: EndNews | undefined;
}

export interface EndNews {
  readonly turn: TurnView;
  /** The deliverable's card, canonical text. */
  readonly deliverable: string | undefined;
}

export interface TurnEnd extends EndedKey {
  readonly agentId: string;
  readonly status: ResultStatus;
  readonly deliverableCardId: string;
  readonly outputBoxId: string;
  readonly error: string | null;
  readonly errorCode: string | null;
}

// ------------------------------------------------------------------------------------------------------ stop and read

export interface StopRequest extends TurnKey {
  readonly actorId: string;
  /** `stopped_by_pmo` when left out. */
  readonly reason?: string | undefined;
  /** The person recorded for it. */
  readonly by?: Actor | undefined;
}

export interface Stopped {
  /** False: it had ended before. */
  readonly stopped: boolean;
  readonly status: TurnStatus;
}

export interface TurnView extends TurnKey {
  readonly agentId: string;
  readonly kind: TurnKind;
  readonly status: TurnStatus;
  readonly turnEpoch: number;
  readonly channelId: string;
  readonly correlationId: string;
  readonly recursionDepth: number;
  readonly traceId: string;
  /** Who asked for it: an agent, or a part of the plane (`sys.api` for people and programs). */
  readonly sourceAgentId: string;
  readonly parentAgentId: string | null;
  readonly parentAgentTurnId: string | null;
  readonly parentStepId: string | null;
  /** The earlier turn that it goes on from, if the request for it named one. */
  readonly continues: string | null;
  readonly profileBoxId: string;
  readonly contextBoxId: string;
  readonly outputBoxId: string;
  readonly stepCount: number;
  /** Calls the turn waits for. */
  readonly waitingCount: number;
  readonly deliverableCardId: string | null;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly createdAt: string;
  readonly dispatchedAt: string | null;
  readonly endedAt: string | null;
  /** The turn is open, and its agent's head is not in it: nothing can resume it. */
  readonly headLost: boolean;
}

export interface AskedTurn {
  readonly spawned: SpawnedTurn;
  readonly turn: TurnView | undefined;
  /** What it handed over, where that was written in this process; absent: look for the card. */
  readonly deliverable: Card | undefined;
}

export interface AskOptions {
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The correlation has named a turn before. Called before the wait, and may refuse it. */
  readonly repeated?: ((key: TurnKey) => Promise<void>) | undefined;
}

export interface StepView {
  readonly stepId: string;
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly status: string;
  readonly toolCallIds: readonly string[];
  readonly error: string | null;
  readonly metadata: JsonObject;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface ListTurnsRequest {
  readonly agentId?: string | undefined;
  readonly status?: TurnStatus | undefined;
  readonly parentAgentTurnId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly errorCode?: string | undefined;
  /** Made at or after, and before, these milliseconds. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface Turns {
  /** Inside the caller's transaction when given one; call `ring` after its commit then. */
  spawn(request: SpawnRequest, tx?: Queryer): Promise<SpawnedTurn>;
  /** Spawns a turn and waits for its end: the turn when it has ended, or as it is when the time is over. */
  ask(request: SpawnRequest, options: AskOptions): Promise<AskedTurn>;
  advance(request: AdvanceRequest): Promise<Advanced>;
  /** Extends the claims; returns those that are gone (stopped, lapsed, taken over): abort their work. */
  heartbeat(work: readonly Work[]): Promise<readonly Work[]>;
  /** Gives work back unfinished, for another worker. */
  release(work: Work): Promise<void>;
  /** Says that the next step began: its row, its event, the head's activity. Once per step, however often it is said. */
  beginStep(work: Work, stepId: string): Promise<void>;
  /** What steps look at: the newest cards of these turns' boxes, in the order asked; one statement of bounded bytes. */
  readBoxes(asks: readonly TurnBoxesAsk[]): Promise<readonly ListedBoxes[]>;
  /** Reads long cards in the order given, in pages of bounded bytes. A card that is gone is left out. */
  readLong(projectId: string, long: readonly LongCard[], reading: LongReading): Promise<ReadonlyMap<string, Card>>;
  commitStep(work: Work, step: StepCommit): Promise<CommittedStep>;
  finish(work: Work, end: TurnFinish): Promise<TurnEnd>;
  /** Drains the inbox of an agent whose turn could not end; false while a row is still open. */
  settleInbox(work: Work): Promise<boolean>;
  /** Ends a turn wherever it is, also a queued one; its open calls are canceled in the same transaction. */
  stop(request: StopRequest, tx?: Queryer): Promise<Stopped>;
  /** Agents with something to do, of these pools, oldest first: for a worker that starts or missed a ring. */
  due(workerTargets: readonly string[], limit: number): Promise<readonly AgentKey[]>;
  /** After the commit of a caller's transaction in which turns of these agents were spawned, or stopped. */
  ring(agents: readonly AgentKey[], what: "spawned" | "stopped"): void;
  get(key: TurnKey): Promise<TurnView | undefined>;
  list(
    projectId: string,
    request?: ListTurnsRequest,
  ): Promise<{ readonly items: readonly TurnView[]; readonly cursor: string | null }>;
  steps(key: TurnKey): Promise<readonly StepView[]>;
  /** The turn when it has ended, or as it is when the time is over. */
  wait(key: TurnKey, waitMs: number, signal?: AbortSignal): Promise<TurnView | undefined>;
  drain(): Promise<void>;
}
