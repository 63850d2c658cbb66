// One turn on the terminal: what the agent was asked, each step with its thought and its calls, what it cost, what it delivered.

import { isRecord } from "@toolplane/protocol";
import type { Body } from "@toolplane/sdk/client";
import { itemsOf, textOf } from "./body.ts";
import type { CommandContext } from "./command.ts";
import type { Output } from "./output.ts";
import { jsonText, oneLine, plainText, shorten } from "./plain-text.ts";
import { errorText } from "./show-call.ts";
import { spanOf } from "./time-text.ts";
import { toneOf } from "./tone.ts";
import { isStopStep, turnFailure, turnStatus } from "./turn-outcome.ts";

/** The part of arguments and results that fits into a line. */
const VALUE_WIDTH = 160;

export const shortValue = (value: unknown): string =>
  shorten(oneLine(typeof value === "string" ? value : jsonText(value ?? null)), VALUE_WIDTH);

const numberIn = (usage: unknown, key: string): number =>
  isRecord(usage) && typeof usage[key] === "number" ? usage[key] : 0;

/** Providers count the whole, or the two parts of it. */
export const tokensIn = (usage: unknown): number =>
  numberIn(usage, "total_tokens") || numberIn(usage, "prompt_tokens") + numberIn(usage, "completion_tokens");

const usageOf = (step: Body): unknown => (isRecord(step.metadata) ? step.metadata.llm_usage : undefined);

const partsOf = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== "").join(", ");

const tokensText = (tokens: number): string | undefined => (tokens === 0 ? undefined : `${tokens} tokens`);

const showStoryCall = (output: Output, call: Body): void => {
  const { paint } = output;
  const status = textOf(call, "status");
  output.line(`  ${paint("strong", oneLine(textOf(call, "tool_name") ?? "?"))} ${shortValue(call.arguments)}`);
  const took = spanOf(call, "asked_at", "answered_at");
  const said = errorText(call.error) ?? (status === undefined ? "" : shortValue(call.result));
  const outcome = paint(toneOf(status), status ?? "no result yet");
  const id = call.local === true ? "" : `  ${paint("faint", `call ${textOf(call, "tool_call_id") ?? "?"}`)}`;
  output.line(
    `    ${outcome}${took === undefined ? "" : ` in ${took}`}${said === "" ? "" : `: ${shortValue(said)}`}${id}`,
  );
};

const showStep = (output: Output, step: Body, number: number): void => {
  const status = textOf(step, "status");
  const about = partsOf(
    status === "completed" ? undefined : status,
    spanOf(step, "started_at", "ended_at"),
    tokensText(tokensIn(usageOf(step))),
  );
  output.line(
    output.paint("strong", isStopStep(textOf(step, "step_id") ?? "") ? "stop" : `step ${number}`) +
      (about === "" ? "" : `  ${about}`),
  );
  const thought = textOf(step, "thought");
  if (thought !== undefined) output.foreign(thought);
  for (const call of itemsOf({ items: step.calls })) showStoryCall(output, call);
  const error = textOf(step, "error");
  if (error !== undefined) output.line(`  ${output.paint("bad", oneLine(error))}`);
};

export const showTurn = ({ output }: CommandContext, turn: Body): void => {
  if (output.json) {
    output.data(turn);
    return;
  }
  const steps = itemsOf({ items: turn.steps });
  const status = turnStatus(turn);
  const tokens = steps.reduce((sum, step) => sum + tokensIn(usageOf(step)), 0);
  output.fields([
    ["turn", turn.agent_turn_id],
    ["status", status, toneOf(status)],
    ["agent", turn.agent_id],
    ["asked by", turn.source_agent_id],
    ["instruction", turn.instruction],
    ["why", turn.why],
    ["what to do", turn.todo],
    [
      "took",
      partsOf(
        spanOf(turn, "created_at", "ended_at"),
        `${steps.length} ${steps.length === 1 ? "step" : "steps"}`,
        tokensText(tokens),
      ),
    ],
    ["created", turn.created_at],
    ["ended", turn.ended_at],
    ["continues", turn.continues],
    ["parent", turn.parent_agent_turn_id],
    ["depth", turn.recursion_depth === 0 ? null : turn.recursion_depth],
    ["trace", turn.trace_id],
    ["context box", turn.context_box_id],
    ["output box", turn.output_box_id],
  ]);
  for (const [index, step] of steps.entries()) showStep(output, step, index + 1);
  if (turn.ended_at === null || turn.ended_at === undefined) return;
  if (turn.status !== "success") {
    output.line(output.paint("bad", oneLine(turnFailure(turn))));
    return;
  }
  output.line(output.paint("strong", "deliverable"));
  if (typeof turn.deliverable === "string") output.foreign(plainText(turn.deliverable));
  else output.value(turn.deliverable ?? null);
};
