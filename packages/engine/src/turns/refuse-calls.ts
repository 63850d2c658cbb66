// Which calls of a step are refused: by a limit before they are planned, or by the transaction that was to write them. The step gets a
// failed result for each of them.

import { ToolplaneError } from "@toolplane/protocol";
import type { Admission } from "../gates/admission.ts";
import type { PlannedStep } from "./plan-step.ts";

/** A call of a step; `place` names it within the flush. */
export interface AskedCall {
  readonly projectId: string;
  readonly place: string;
}

/** The limits of projects and of the plane; one question for each project. */
export const refuseCalls = async (
  admission: Pick<Admission, "admit">,
  calls: readonly AskedCall[],
): Promise<Map<string, ToolplaneError>> => {
  const refused = new Map<string, ToolplaneError>();
  for (const projectId of new Set(calls.map((call) => call.projectId))) {
    const own = calls.filter((call) => call.projectId === projectId);
    const verdicts = await admission.admit(projectId, own.length);
    for (const [index, { place }] of own.entries()) {
      const verdict = verdicts[index];
      if (verdict !== undefined) refused.set(place, verdict);
    }
  }
  return refused;
};

/** The tokens of calls that were let in and not written go back: a step that was committed before, a wrong call, a full queue. */
export const giveBackCalls = async (
  admission: Pick<Admission, "giveBack">,
  letIn: readonly AskedCall[],
  written: readonly { readonly projectId: string }[],
): Promise<void> => {
  for (const [projectId, own] of Map.groupBy(letIn, (call) => call.projectId))
    await admission.giveBack(projectId, own.length - written.filter((row) => row.projectId === projectId).length);
};

export interface Planned {
  readonly item: number;
  readonly plan: PlannedStep;
}

/** The calls that are to be written, in the order of their rows. */
export const placesOf = (planned: readonly Planned[]): { readonly item: number; readonly call: number }[] =>
  planned.flatMap(({ item, plan }) =>
    plan.calls.flatMap(({ refusal }, call) => (refusal === undefined ? [{ item, call }] : [])),
  );

/** Calls that the database refused; the transaction is rolled back and the step planned again. */
export class UnreadyCalls extends ToolplaneError {
  readonly places: readonly { readonly item: number; readonly call: number; readonly ready: boolean }[];
  constructor(places: UnreadyCalls["places"]) {
    super("conflict", "the definitions of the called tools kept changing; try again in a moment");
    this.places = places;
  }
}

/** Calls for which the queue of their project has no place; the transaction is rolled back and the step planned without them. */
export class FullQueues extends ToolplaneError {
  readonly refused: ReadonlyMap<string, ToolplaneError>;
  constructor(refused: ReadonlyMap<string, ToolplaneError>) {
    super("rate_limited", "the queue of a project is full");
    this.refused = refused;
  }
}
