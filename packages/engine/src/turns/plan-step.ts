// Turns a brain's answer into what a step writes: its cards in order, its calls planned, and for each call that cannot be
// dispatched the tool.call card and one failed result, so that a model always sees one result per call. Pure except for the ids
// and the time that are passed in.

import {
  buildResult,
  CARD_TYPES,
  type Card,
  canonicalText,
  createToolCallCard,
  isRecord,
  type JsonObject,
  lineageMeta,
  rawArgumentsHash,
  storableText,
  ToolplaneError,
} from "@toolplane/protocol";
import type { PlacedCall } from "../calls/call-places.ts";
import { type CallAsk, type PinnedDefinition, planCall } from "../calls/plan-call.ts";
import { engineFailure } from "../calls/plan-settlement.ts";
import { CARD_CAPS } from "../cards/prepare-card.ts";
import { LongCheck } from "../registry/schema-checks.ts";
import { type Ledger, type LedgerMeans, sayCard } from "./ledger.ts";
import type { CommittedCall, StepCommit, StepEntry } from "./turn.ts";
import { contextOfTurn, speakerOf, type TurnRow } from "./turn-row.ts";

export type CallEntry = Extract<StepEntry, { readonly call: CallAsk }>;

export const isCall = (entry: StepEntry): entry is CallEntry => "call" in entry;

export interface PlanStepMeans extends LedgerMeans {
  readonly external: boolean;
}

/** What is known of a call before it is planned: its definition, or why there will be none. */
export type CallGround = { readonly pinned: PinnedDefinition } | { readonly refusal: ToolplaneError };

export interface PlannedStep {
  readonly rows: readonly PlacedCall[];
  readonly calls: readonly CommittedCall[];
}

const MAX_SHOWN_ARGUMENTS = 64 * 1024;

/** The arguments as the refused call's card shows them: an object, and not a large one. */
const shownArguments = (raw: unknown): JsonObject => {
  let value = raw;
  try {
    if (typeof value === "string") value = JSON.parse(value);
    if (!isRecord(value)) return {};
    canonicalText(value, { ...CARD_CAPS, maxBytes: MAX_SHOWN_ARGUMENTS });
    return value as JsonObject;
  } catch {
    return {};
  }
};

/** Identifies a request: the same step again is answered, another one under its id is refused (T4). */
export const stepHash = (step: StepCommit, sha256: (text: string) => string): string =>
  sha256(
    JSON.stringify(
      step.entries.map((entry) =>
        isCall(entry)
          ? [
              entry.call.toolName,
              argumentsHash(entry.call, sha256),
              entry.call.providerCallId ?? null,
              entry.refuse?.code ?? null,
            ]
          : [entry.card.card_id, entry.card.type, entry.show !== false],
      ),
    ),
  );

const argumentsHash = (ask: CallAsk, sha256: (text: string) => string): string => {
  try {
    return rawArgumentsHash(ask.arguments, sha256);
  } catch {
    return "unwritable";
  }
};

const refuseCall = (
  ledger: Ledger,
  stepId: string,
  epoch: number,
  call: { readonly ask: CallAsk; readonly toolCallId: string; readonly refusal: ToolplaneError },
  means: LedgerMeans,
): CommittedCall => {
  const { turn } = ledger;
  const { ask, toolCallId, refusal } = call;
  const createdAt = new Date(means.nowMs).toISOString();
  const lineage = lineageMeta(contextOfTurn(turn, epoch, stepId));
  const toolName = storableText(ask.toolName, 128) || "unknown";
  const card = createToolCallCard({
    cardId: means.ids.uuid(),
    projectId: turn.project_id,
    createdAt,
    authorId: turn.agent_id,
    agentTurnId: turn.agent_turn_id,
    toolCallId,
    toolName,
    arguments: shownArguments(ask.arguments),
    lineage,
    providerToolCallId: ask.providerCallId,
  });
  sayCard(ledger, card, means);
  const failure = buildResult(
    {
      cardId: means.ids.uuid(),
      createdAt,
      projectId: turn.project_id,
      agentTurnId: turn.agent_turn_id,
      toolCallId,
      authorId: turn.agent_id,
      toolName,
      afterExecution: "suspend",
      toolCallMetadata: { ...lineage },
      caps: CARD_CAPS,
    },
    engineFailure("failed", refusal, "worker"),
  );
  sayCard(ledger, failure.card, means);
  return { toolCallId, callCardId: card.card_id, toolName, providerCallId: ask.providerCallId ?? null, refusal };
};

const originOf = (turn: TurnRow, epoch: number, stepId: string) => ({
  ...speakerOf(turn),
  turnEpoch: epoch,
  stepId,
  headless: false,
});

const refuseDeliverable = (card: Card): void => {
  if (card.type === CARD_TYPES.taskDeliverable)
    throw new ToolplaneError("bad_request", "a deliverable ends its turn: hand it over with finish, not with a step");
};

/** Adds the step to the ledger. `grounds` has one entry per call, in order. */
export const planStep = (
  ledger: Ledger,
  step: StepCommit,
  epoch: number,
  grounds: readonly CallGround[],
  means: PlanStepMeans,
): PlannedStep => {
  const origin = originOf(ledger.turn, epoch, step.stepId);
  const now = new Date(means.nowMs).toISOString();
  const rows: PlacedCall[] = [];
  const calls: CommittedCall[] = [];

  const dispatchOrRefuse = (entry: CallEntry, ground: CallGround): CommittedCall => {
    const toolCallId = means.ids.uuid();
    const refuse = (refusal: ToolplaneError): CommittedCall =>
      refuseCall(ledger, step.stepId, epoch, { ask: entry.call, toolCallId, refusal }, means);
    if (entry.refuse !== undefined) return refuse(entry.refuse);
    if ("refusal" in ground) return refuse(ground.refusal);
    try {
      const planned = planCall({
        ...means,
        origin,
        ask: entry.call,
        pinned: ground.pinned,
        chain: ledger.chain,
        toolCallId,
        now,
      });
      ledger.chain = planned.chain;
      ledger.said.push(planned.row.callCardId);
      ledger.shown.push(planned.row.callCardId);
      rows.push(planned);
      const { callCardId, toolName, providerCallId } = planned.row;
      return { toolCallId, callCardId, toolName, providerCallId };
    } catch (error) {
      if (error instanceof ToolplaneError && !(error instanceof LongCheck)) return refuse(error);
      throw error;
    }
  };

  for (const entry of step.entries) {
    if (isCall(entry))
      calls.push(dispatchOrRefuse(entry, grounds[calls.length] ?? { refusal: noDefinition(entry.call) }));
    else {
      refuseDeliverable(entry.card);
      sayCard(ledger, entry.card, means, entry.show !== false);
    }
  }
  return { rows, calls };
};

export const noDefinition = (ask: CallAsk): ToolplaneError =>
  new ToolplaneError("not_found", `there is no tool ${storableText(ask.toolName, 128)}`);
