// The answers of a batch as JSON texts, a few at a time: one result may be a megabyte, and a batch may ask for it 512 times.
//   BA1. About AT_ONCE bytes of text are made at once; the next answers are read when the reader has taken these.
//   BA2. Few results are read together, fewer after large ones. After a large text other requests get their turn.

import { setImmediate as breathe } from "node:timers/promises";
import type { CallAnswer, Engine } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { callAnswer, resultCards } from "./call-body.ts";

export type ItemOutcome = CallAnswer | ToolplaneError;

/** The texts of the first outcomes: at least one, and as many as are small enough together. */
export type AnswerTexts = (outcomes: readonly ItemOutcome[]) => Promise<readonly string[]>;

const AT_ONCE = 512 * 1024;
const LINES_AT_ONCE = 32;
const MAX_READS = 8;

const isView = (outcome: ItemOutcome): outcome is CallAnswer => !(outcome instanceof ToolplaneError);

const isRead = (outcome: ItemOutcome): boolean =>
  isView(outcome) && outcome.resultCardId !== null && outcome.content === undefined;

const errorText = (error: ToolplaneError): string => JSON.stringify({ error: error.toWire() });

/** The first outcomes whose results are few enough to be read together. */
const groupOf = (outcomes: readonly ItemOutcome[], reads: number): readonly ItemOutcome[] => {
  let left = reads;
  const end = outcomes.findIndex((outcome) => {
    if (isRead(outcome)) left -= 1;
    return left < 0;
  });
  return outcomes.slice(0, Math.min(end < 0 ? outcomes.length : end, LINES_AT_ONCE));
};

export const createAnswerTexts = (engine: Pick<Engine, "cards">, projectId: string): AnswerTexts => {
  let reads = 1;
  return async (outcomes) => {
    const group = groupOf(outcomes, reads);
    const cards = await resultCards(engine, projectId, group.filter(isView)).catch((error: unknown) =>
      // The calls are settled, but their results cannot be read now: the caller asks again.
      error instanceof ToolplaneError ? error : new ToolplaneError("storage_error", "no result was read"),
    );
    if (cards instanceof ToolplaneError) return group.map((outcome) => errorText(isView(outcome) ? cards : outcome));
    const texts: string[] = [];
    let bytes = 0;
    for (const outcome of group) {
      const text = isView(outcome)
        ? JSON.stringify(callAnswer(outcome, cards.get(outcome.resultCardId ?? "")))
        : errorText(outcome);
      texts.push(text);
      bytes += Buffer.byteLength(text);
      if (bytes >= AT_ONCE) break;
    }
    reads = bytes >= AT_ONCE ? 1 : Math.min(reads * 2, MAX_READS);
    if (bytes >= AT_ONCE) await breathe();
    return texts;
  };
};

/** An answer without its result, for a list that is full; its caller reads the result by the call's id. */
export const shortText = (outcome: ItemOutcome): string => {
  if (!isView(outcome)) return errorText(outcome);
  const hasResult = outcome.resultCardId !== null || outcome.content !== undefined;
  const short = callAnswer({ ...outcome, content: undefined });
  return JSON.stringify(hasResult ? { ...short, result_omitted: true } : short);
};
