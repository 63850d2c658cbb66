// Which step of a script is next. The walk is made anew from the beginning each time, with what was known at each round, so
// the answer depends on the transcript and on nothing else.

import { ToolplaneError } from "@toolplane/protocol";
import type { BrainRequest } from "../brain.ts";
import type { Script, ScriptCall, ScriptCase, ScriptStep } from "./script.ts";
import { createView, type Round, readTranscript, type ScriptResult, type ScriptView } from "./script-view.ts";

export interface ScriptPosition {
  readonly step: ScriptStep;
  readonly view: ScriptView;
  readonly place: string;
}

const matches = ({ match }: ScriptCase, instruction: string): boolean => {
  if (match === undefined) return true;
  const text = instruction.toLowerCase();
  return (typeof match === "string" ? [match] : match).some((part) => text.includes(part.toLowerCase()));
};

const holds = ({ when }: ScriptStep, view: ScriptView): boolean => {
  if (when === undefined) return true;
  if (typeof when === "function") return when(view);
  if (when.ok !== undefined && view.result(when.ok)?.failed !== false) return false;
  if (when.failed !== undefined && view.result(when.failed)?.failed !== true) return false;
  return when.missing === undefined || view.result(when.missing) === undefined;
};

export const callsOf = ({ call }: ScriptStep, view: ScriptView): readonly ScriptCall[] => {
  const given = typeof call === "function" ? call(view) : call;
  if (given === undefined) return [];
  return Array.isArray(given) ? (given as readonly ScriptCall[]) : [given as ScriptCall];
};

/** Results get the names their calls were given. */
const nameResults = (round: Round, calls: readonly ScriptCall[]): readonly ScriptResult[] =>
  round.map((result, index) => ({ ...result, name: calls[index]?.as ?? result.tool }));

const refuse = (place: string, message: string): ToolplaneError =>
  new ToolplaneError("bad_request", `${place}: ${message}`);

export const findPosition = (script: Script, request: BrainRequest): ScriptPosition => {
  const { instruction, rounds } = readTranscript(request);
  const caseIndex = script.cases.findIndex((candidate) => matches(candidate, instruction));
  const chosen = script.cases[caseIndex];
  if (chosen === undefined) {
    throw refuse(`script ${script.name}`, "no case matches the instruction; add one without match");
  }
  let results: readonly ScriptResult[] = [];
  let at = 0;
  for (let round = 1; ; round++) {
    const view = createView(request, instruction, round, results);
    while (at < chosen.steps.length && !holds(chosen.steps[at] as ScriptStep, view)) at++;
    const step = chosen.steps[at];
    if (step === undefined) {
      throw refuse(`script ${script.name}`, `there is no step ${round}; end the script with finish or submit`);
    }
    if (round >= request.stepNumber) return { step, view, place: script.place(caseIndex, at) };
    results = [...results, ...nameResults(rounds[round - 1] ?? [], callsOf(step, view))];
    at++;
  }
};
