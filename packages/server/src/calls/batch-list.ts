// The answers of a batch as one list, when all items are answered. The list is made while its reader reads, and it is bounded:
// answers after MAX_LIST_BYTES come without their results. A reader that takes nothing for a while is cut off.

import type { Engine } from "@toolplane/engine";
import { createLineStream } from "../http/line-stream.ts";
import { writeWithin } from "../http/readers.ts";
import { createAnswerTexts, type ItemOutcome, shortText } from "./batch-answers.ts";

export interface BatchListOptions {
  readonly engine: Pick<Engine, "cards">;
  readonly projectId: string;
  readonly outcomes: readonly ItemOutcome[];
  /** How long the reader may leave written data untaken, and what happens then. */
  readonly slowMs: number;
  readonly cut: () => void;
  /** Called once, when the last piece is written or the reader is given up. */
  readonly ended: () => void;
}

const MAX_LIST_BYTES = 16 * 1024 * 1024;

export const streamBatchList = (options: BatchListOptions): ReadableStream<Uint8Array> => {
  const { engine, projectId, outcomes, slowMs } = options;
  const lines = createLineStream(() => {});
  const answerTexts = createAnswerTexts(engine, projectId);
  let at = 0;
  let bytes = 0;
  let isFull = false;

  const next = async (): Promise<string> => {
    const left = outcomes.slice(at);
    const texts = isFull ? left.map(shortText) : await answerTexts(left);
    const fitting = texts.map((text, n) => {
      const outcome = outcomes[at + n];
      const size = Buffer.byteLength(text);
      isFull ||= bytes + size > MAX_LIST_BYTES;
      if (isFull && outcome !== undefined) return shortText(outcome);
      bytes += size;
      return text;
    });
    const opening = at === 0 ? '{"items":[' : ",";
    at += texts.length;
    return `${opening}${fitting.join(",")}${at < outcomes.length ? "" : "]}"}`;
  };

  const run = async (): Promise<void> => {
    while (at < outcomes.length && !lines.gone())
      if (!(await writeWithin(lines, await next(), slowMs))) return options.cut();
  };
  void run().finally(() => {
    lines.end();
    options.ended();
  });
  return lines.body;
};
