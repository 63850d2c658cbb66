// What the results of a suspended step mean for its turn. Pure.
//   The calls are the truth: a result counts because its call has settled, even when the inbox row about it was lost. So a turn
//   can never be left suspended with nothing outstanding (W-08).
//   Results enter the output box, and the chain, in the order in which the step made its calls: the transcript is the same,
//   whichever tool answered first.
//   D-13. A tool ends the turn only when all results of the step are there.

import type { JsonObject, ToolResultContent } from "@toolplane/protocol";
import { aggregateStep } from "@toolplane/protocol/agents";

export interface WaitedCall {
  readonly ord: number;
  readonly tool_call_id: string;
  readonly step_id: string;
  readonly status: string;
  readonly settled: boolean;
  readonly applied: boolean;
  /** Its result is in the output box. */
  readonly released: boolean;
  readonly result_card_id: string | null;
  readonly card_hash: string | null;
  readonly approval_hash: string | null;
  /** Only where it may end the turn. */
  readonly body: string | null;
  readonly step_card_ids: readonly string[] | null;
  readonly step_metadata: JsonObject | null;
  /** The latest time at which it will have settled, as far as is known now. */
  readonly deadline_ms: number;
}

/** A call whose result can be read. */
export type Answered = WaitedCall & { readonly result_card_id: string; readonly card_hash: string };

export interface Resume {
  /** Results that count from now on. */
  readonly apply: readonly Answered[];
  /** Results for the output box, in order. */
  readonly release: readonly Answered[];
  /** Settled, but their card cannot be read. */
  readonly unreadable: readonly WaitedCall[];
  /** How many are still awaited. */
  readonly waiting: number;
  readonly next:
    | { readonly act: "wait" }
    | { readonly act: "run" }
    | { readonly act: "end"; readonly primary: ToolResultContent; readonly primaryCardId: string | undefined };
}

/** Until when a turn is suspended at most: until the last of its calls has settled or timed out. */
export const resumeDeadline = (deadlinesMs: readonly number[]): { readonly resume_deadline?: string } =>
  deadlinesMs.length === 0 ? {} : { resume_deadline: new Date(Math.max(...deadlinesMs)).toISOString() };

export const isAnswered = (call: WaitedCall): call is Answered =>
  call.settled && call.result_card_id !== null && call.card_hash !== null;

const contentOf = (body: string): ToolResultContent =>
  (JSON.parse(body) as { readonly content: ToolResultContent }).content;

/** `calls` in the order the step made them. */
export const planResume = (calls: readonly WaitedCall[]): Resume => {
  const apply = calls.filter((call): call is Answered => !call.applied && isAnswered(call));
  const unreadable = calls.filter((call) => call.settled && !isAnswered(call));
  const waiting = calls.filter((call) => !call.applied && !isAnswered(call)).length;
  const held = calls.findIndex((call) => !call.applied && !isAnswered(call));
  const ready = held === -1 ? calls : calls.slice(0, held);
  const release = ready.filter((call): call is Answered => !call.released && isAnswered(call));
  const base = { apply, release, unreadable, waiting };
  if (waiting > 0) return { ...base, next: { act: "wait" } };
  const contents = calls.flatMap(({ body, result_card_id }) =>
    body === null ? [] : [{ content: contentOf(body), cardId: result_card_id }],
  );
  const { primary } = aggregateStep(contents.map(({ content }) => content));
  if (primary === undefined) return { ...base, next: { act: "run" } };
  const primaryCardId = contents.find(({ content }) => content === primary)?.cardId ?? undefined;
  return { ...base, next: { act: "end", primary, primaryCardId } };
};
