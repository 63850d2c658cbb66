// How a turn that did not succeed is told: one paragraph that names what happened, how far it came and what to do.

import { isRecord } from "@toolplane/protocol";
import type { Body } from "@toolplane/sdk/client";
import { textOf } from "./body.ts";
import { shorten } from "./plain-text.ts";

const STOPPED = "stopped";
const LAST_WORDS = 200;

/** A stop is a step of its own; no agent thought in it, so it has no number. */
export const isStopStep = (stepId: string): boolean => stepId.startsWith("step_stop_");

const errorOf = (turn: Body): Body => (isRecord(turn.error) ? turn.error : {});

/** A stopped turn ends as failed with the code `stopped`; a person is shown what happened. */
export const turnStatus = (turn: Body): string => {
  const status = textOf(turn, "status") ?? "?";
  return textOf(errorOf(turn), "code") === STOPPED ? STOPPED : status;
};

const HAPPENED: Readonly<Record<string, string>> = {
  max_steps_reached: "the agent used all its steps without handing in a result",
  token_budget_reached: "the agent used up its tokens without handing in a result",
  time_budget_reached: "the agent's time was over before it handed in a result",
  recursion_depth_exceeded: "the chain of agents that ask agents is too deep",
  profile_not_found: "the agent has no profile any more",
};

const ADVICE: Readonly<Record<string, string>> = {
  max_steps_reached: "raise budget.steps in its profile, or run it with --max-steps",
  token_budget_reached: "raise budget.tokens in its profile, or run it with --max-tokens",
  time_budget_reached: "raise budget.seconds in its profile, or run it with --max-time",
  profile_not_found: "give it one with: toolplane agents create AGENT --profile NAME",
  auth_failed: "allow the variable of the model's key in secrets.allow_env, and set it where the worker runs",
  upstream_unavailable: "see that the model can be reached, then ask again",
  rate_limited: "ask again in a moment",
  internal_error: "the log of the worker has the cause",
};

/** The last thought of an agent that did not come to an end, from the deliverable that was made for it. */
const lastWords = (turn: Body): string | undefined => {
  const made = isRecord(turn.deliverable) ? turn.deliverable : {};
  return isRecord(made.diagnostics) ? textOf(made.diagnostics, "last_agent_thought") : undefined;
};

/** `subject`: what the sentence begins with, where the reader does not know which turn it is about. */
export const turnFailure = (turn: Body, subject = "it"): string => {
  const error = errorOf(turn);
  const code = textOf(error, "code") ?? textOf(turn, "status") ?? "failed";
  const message = textOf(error, "message");
  const what =
    code === STOPPED
      ? `${subject} was stopped: ${message ?? "no reason was given"}`
      : `${subject} ended as ${turnStatus(turn)}: ${code}: ${HAPPENED[code] ?? message ?? "no message"}`;
  const words = lastWords(turn);
  const said = words === undefined ? "" : `; the last it said is "${shorten(words, LAST_WORDS)}"`;
  const todo =
    code === STOPPED
      ? ""
      : `; ${ADVICE[code]?.replace("AGENT", textOf(turn, "agent_id") ?? "AGENT") ?? "see its steps"}`;
  return `${what}${said}${todo}`;
};
