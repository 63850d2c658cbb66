// A ui_action: a person's click, carried out as a turn of one call. No brain is asked.
//   First the call is made, as a step of its own; when its result has been applied, the turn ends with the call's status.

import { type CommittedStep, stepIdOf, type TurnFinish, type Work } from "@toolplane/engine";
import { type Card, isFilled, isRecord, isResultStatus, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import { taskErrorText } from "@toolplane/protocol/agents";
import { isShortened } from "../transcript/long-cards.ts";
import type { StepReader } from "./step-reader.ts";
import type { WorkerEngine } from "./worker-engine.ts";

export type UiActionPlan =
  | {
      readonly kind: "call";
      readonly toolName: string;
      readonly arguments: unknown;
      readonly alias: string | undefined;
    }
  | { readonly kind: "end"; readonly end: TurnFinish };

const failed = (errorCode: string, error: string): TurnFinish => ({ status: "failed", errorCode, error });

const deliverableOf = (result: JsonValue): TurnFinish["deliverable"] => {
  if (typeof result === "string") return result;
  if (typeof result === "object" && result !== null) return result;
  return result === null ? "(no content)" : String(result);
};

const resultOf = (cards: readonly Card[], agentTurnId: string): Card | undefined =>
  cards.findLast(({ type, metadata }) => type === "tool.result" && metadata.agent_turn_id === agentTurnId);

/** How the turn ends once its call has a result. */
const planUiEnd = (card: Card | undefined): TurnFinish => {
  const content = card?.content;
  if (card === undefined || content?.__type__ !== "ToolResultContent")
    return failed("tool_result_not_found", "the action's call left no result; look at the call and try again");
  const status = isResultStatus(content.status) ? content.status : "failed";
  const toolResultCardId = card.card_id;
  if (status === "success") return { status, deliverable: deliverableOf(content.result), toolResultCardId };
  const code = isRecord(content.error) ? content.error.code : undefined;
  return {
    status,
    error: taskErrorText(content),
    toolResultCardId,
    ...(isFilled(code) ? { errorCode: code } : {}),
  };
};

const planUiCall = ({ payload }: Pick<Work, "payload">): UiActionPlan => {
  const { tool_name: toolName, args, action_id: action } = payload;
  if (!isFilled(toolName)) return { kind: "end", end: failed("missing_required_fields", "the action names no tool") };
  return { kind: "call", toolName, arguments: args ?? {}, alias: isFilled(action) ? action : undefined };
};

export interface UiActionDeps {
  readonly engine: Pick<WorkerEngine, "turns" | "definitions">;
  readonly reader: Pick<StepReader, "withBoxes" | "card">;
}

/** Undefined when the turn waits for its result. */
export const runUiAction = async ({ engine, reader }: UiActionDeps, work: Work): Promise<TurnFinish | undefined> => {
  if (work.stepCount > 0) {
    const found = await reader.withBoxes(work, ({ output }) => resultOf(output, work.agentTurnId));
    const isCut = found !== undefined && isShortened(found);
    return planUiEnd(isCut ? await reader.card(work.projectId, found.card_id) : found);
  }
  const plan = planUiCall(work);
  if (plan.kind === "end") return plan.end;
  const { toolName, alias } = plan;
  const stepId = stepIdOf(work.agentTurnId, 1, work.kind);
  const [known] = await engine.definitions.resolve([{ projectId: work.projectId, toolName }]);
  const refuse =
    known !== undefined && known.definition.options.ui_allowed !== true
      ? new ToolplaneError("auth_failed", `${toolName} may not be used from a user interface (options.ui_allowed)`)
      : undefined;
  // A person asks for it, unless the program of the agent does.
  const external = work.metadata.asked_by_agent === true;
  const call = { toolName, arguments: plan.arguments, providerCallId: alias, external };
  const done: CommittedStep = await engine.turns.commitStep(work, { stepId, entries: [{ call, refuse }] });
  if (done.next === "suspended") return undefined;
  const refusal = done.calls[0]?.refusal;
  return failed(refusal?.code ?? "dispatch_failed", refusal?.message ?? `${toolName} could not be called`);
};
