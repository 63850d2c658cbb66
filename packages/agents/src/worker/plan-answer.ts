// What is done with a brain's answer. Pure: every call of it gets exactly one fate, so that a model sees one result per call
// (W-14), whatever it asked for.
//   - Nothing is dispatched that the profile does not allow, or that was not offered in this step (W-20).
//   - submit_result must be called alone; together with another call nothing of the step is done.
//   - A built-in tool is never dispatched and leaves no tool.call card.

import { type JsonObject, ToolplaneError } from "@toolplane/protocol";
import type { ResultField } from "@toolplane/protocol/agents";
import { SUBMIT_RESULT } from "@toolplane/protocol/registry";
import { mustEndWithText } from "../transcript/step-notes.ts";
import type { AskedCall } from "./asked-calls.ts";
import { readSubmission, type Submission } from "./submission.ts";

export type Fate =
  | { readonly do: "dispatch"; readonly call: AskedCall }
  /** A tool of the project that is not called: its call card and one failed result. */
  | { readonly do: "refuse"; readonly call: AskedCall; readonly error: ToolplaneError }
  /** A built-in tool that is run here. */
  | { readonly do: "local"; readonly call: AskedCall; readonly arguments: JsonObject }
  /** A built-in tool that is not run: one failed result. */
  | { readonly do: "fail"; readonly call: AskedCall; readonly error: ToolplaneError };

export type AnswerPlan =
  | { readonly kind: "deliver"; readonly text: string }
  | { readonly kind: "remind"; readonly text: string }
  | { readonly kind: "submit"; readonly call: AskedCall; readonly deliverable: Submission }
  | { readonly kind: "act"; readonly fates: readonly Fate[] };

export interface AnswerInput {
  readonly text: string;
  readonly calls: readonly AskedCall[];
  readonly mustEndWith: readonly string[];
  /** Names of what was offered in this step, built-in tools included. */
  readonly offered: ReadonlySet<string>;
  /** The last step: only submit_result is offered, though the profile allows more. */
  readonly restricted: boolean;
  /** What the profile allows of the project's tools, offered or not. */
  readonly mayUse: (name: string) => boolean;
  /** Names of built-in tools, offered or not. */
  readonly builtIn: ReadonlySet<string>;
  readonly requiredFields: readonly ResultField[];
  readonly maxCalls: number;
}

const NO_CONTENT = "(no content)";

const refusal = (code: "auth_failed" | "bad_request", message: string): ToolplaneError =>
  new ToolplaneError(code, message);

/** Why a call is not carried out, if it is not. */
const faultOf = (call: AskedCall, index: number, input: AnswerInput): ToolplaneError | undefined => {
  const { name, fault } = call;
  if (index >= input.maxCalls)
    return refusal("bad_request", `at most ${input.maxCalls} calls in one step; ask for the others in the next`);
  if (input.offered.has(name)) return fault;
  if (input.builtIn.has(name) || !input.mayUse(name))
    return refusal("auth_failed", `the agent's profile does not allow ${name}; use one of the tools that are offered`);
  if (input.restricted)
    return refusal("bad_request", `this is the last step: only ${SUBMIT_RESULT} can be called; hand in what there is`);
  // Allowed by the profile and unknown here: the engine answers not_found, or knows a tool that was registered a moment ago.
  return fault;
};

const refuseAll = (input: AnswerInput): readonly Fate[] => {
  const error = refusal(
    "bad_request",
    `${SUBMIT_RESULT} must be called alone: nothing of this step was done; call the other tools first, ${SUBMIT_RESULT} last`,
  );
  return input.calls.map((call) => ({ do: input.builtIn.has(call.name) ? "fail" : "refuse", call, error }));
};

const fateOf = (call: AskedCall, index: number, input: AnswerInput): Fate => {
  const error = faultOf(call, index, input);
  const builtIn = input.builtIn.has(call.name);
  if (error !== undefined) return { do: builtIn ? "fail" : "refuse", call, error };
  return builtIn ? { do: "local", call, arguments: call.arguments } : { do: "dispatch", call };
};

const planSubmission = (call: AskedCall, input: AnswerInput): AnswerPlan => {
  const fault = faultOf(call, 0, input);
  const fail = (error: ToolplaneError): AnswerPlan => ({ kind: "act", fates: [{ do: "fail", call, error }] });
  if (fault !== undefined) return fail(fault);
  try {
    return { kind: "submit", call, deliverable: readSubmission(call.arguments, input.requiredFields) };
  } catch (error) {
    if (error instanceof ToolplaneError) return fail(error);
    throw error;
  }
};

export const planAnswer = (input: AnswerInput): AnswerPlan => {
  const { calls, text, mustEndWith } = input;
  const [first] = calls;
  if (first === undefined) {
    if (mustEndWith.length === 0) return { kind: "deliver", text: text.trim() === "" ? NO_CONTENT : text };
    return { kind: "remind", text: mustEndWithText(mustEndWith) };
  }
  if (calls.some(({ name }) => name === SUBMIT_RESULT))
    return calls.length === 1 ? planSubmission(first, input) : { kind: "act", fates: refuseAll(input) };
  return { kind: "act", fates: calls.map((call, index) => fateOf(call, index, input)) };
};
