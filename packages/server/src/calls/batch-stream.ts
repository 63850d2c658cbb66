// The answers of a batch, one line for each item as it settles, so that a slow call holds up nobody.
//   B1. What settles in the same moment is read and written together; nothing waits for it.
//   B2. What was not read yet stays where it is: results are only fetched when the reader has taken the lines before them.
//   B3. A reader that takes nothing for a while is cut off. Its calls go on, and it finds them again by their keys.
//   B4. When the token ends, the items that are left are refused and their results are not shown (A6).
//   B5. An empty line now and then says that the server is still there.

import type { CallAnswer, Engine } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { createLineStream } from "../http/line-stream.ts";
import { writeWithin } from "../http/readers.ts";
import { createWake } from "../http/wake.ts";
import { callAnswer, resultCards } from "../routes/call-body.ts";

export type ItemOutcome = CallAnswer | ToolplaneError;

export interface BatchStreamOptions {
  readonly engine: Pick<Engine, "cards">;
  readonly projectId: string;
  /** One promise for each item; none rejects. */
  readonly items: readonly Promise<ItemOutcome>[];
  /** Aborted when the token ends. */
  readonly tokenEnded: AbortSignal;
  /** Called when the reader went away: nothing is waited for any more. */
  readonly heardGone: () => void;
  /** How long the reader may leave what was written for it, and what is done then. */
  readonly slowMs: number;
  readonly cut: () => void;
  /** Called once, when the last line is written or the reader is given up. */
  readonly ended: () => void;
}

/** Proxies and our own client take a connection that is silent for longer for a dead one. */
const KEEP_ALIVE_MS = 15_000;
/** Results are fetched so many at a time: the largest ones are megabytes. */
const LINES_AT_ONCE = 32;

const answerOf = (outcome: ItemOutcome, cards: Awaited<ReturnType<typeof resultCards>>) =>
  outcome instanceof ToolplaneError
    ? { error: outcome.toWire() }
    : callAnswer(outcome, cards.get(outcome.resultCardId ?? ""));

const isView = (outcome: ItemOutcome): outcome is CallAnswer => !(outcome instanceof ToolplaneError);

/** The answers to several items, with one read of their results. */
export const answersOf = async (
  engine: Pick<Engine, "cards">,
  projectId: string,
  outcomes: readonly ItemOutcome[],
): Promise<readonly Record<string, unknown>[]> => {
  const cards = await resultCards(engine, projectId, outcomes.filter(isView));
  return outcomes.map((outcome) => answerOf(outcome, cards));
};

const endedToken = (): ToolplaneError =>
  new ToolplaneError("unauthorized", "the token was revoked or has expired while the calls were waited for");

interface Ready {
  readonly index: number;
  readonly outcome: ItemOutcome;
}

export const streamBatch = (options: BatchStreamOptions): ReadableStream<Uint8Array> => {
  const { engine, projectId, items, tokenEnded, slowMs } = options;
  const wake = createWake();
  const ready: Ready[] = [];
  let isAsleep = false;
  // After everything that settles in the same moment (B1).
  const ring = (): void => {
    if (!isAsleep) return;
    isAsleep = false;
    process.nextTick(wake.ring);
  };
  const lines = createLineStream(() => {
    options.heardGone();
    wake.ring();
  });
  const open = new Set(items.keys());
  items.forEach((item, index) => {
    void item.then((outcome) => {
      ready.push({ index, outcome });
      ring();
    });
  });

  const linesOf = async (taken: readonly Ready[]): Promise<string> => {
    const outcomes = taken.map(({ outcome }) => (tokenEnded.aborted ? endedToken() : outcome));
    const answers = await answersOf(engine, projectId, outcomes).catch((error: unknown) => {
      // The calls are settled and their results cannot be read now: their caller asks again.
      const away = error instanceof ToolplaneError ? error : new ToolplaneError("storage_error", "no result was read");
      return outcomes.map(() => ({ error: away.toWire() }));
    });
    return taken.map(({ index }, at) => `${JSON.stringify({ index, ...answers[at] })}\n`).join("");
  };

  const run = async (): Promise<void> => {
    while (open.size > 0 && !lines.gone()) {
      if (ready.length === 0) {
        isAsleep = true;
        await wake.wait(KEEP_ALIVE_MS);
        isAsleep = false;
      }
      const taken = ready.splice(0, LINES_AT_ONCE);
      for (const { index } of taken) open.delete(index);
      const text = taken.length === 0 ? "\n" : await linesOf(taken);
      if (await writeWithin(lines, text, slowMs)) continue;
      options.heardGone();
      options.cut();
      return;
    }
  };
  void run().finally(() => {
    lines.end();
    options.ended();
  });
  return lines.body;
};
