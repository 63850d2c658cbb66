// The answers of a batch, one line for each item as it settles, so that a slow call does not hold up the others.
//   BS1. Items that settle in the same moment are read and written together, up to a size; an item never waits for others.
//   BS2. Results are fetched only when the reader has taken the lines before them, so unread results use no memory here.
//   BS3. A reader that takes nothing for a while is cut off. Its calls go on, and it finds them again by their keys.
//   BS4. When the token ends, the remaining items are refused and their results are not shown (APP6).
//   BS5. An empty line from time to time says that the server is still there.

import { createAlarm, type Engine, systemClock } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { createLineStream } from "../http/line-stream.ts";
import { writeWithin } from "../http/readers.ts";
import { createAnswerTexts, type ItemOutcome } from "./batch-answers.ts";

export interface BatchStreamOptions {
  readonly engine: Pick<Engine, "cards">;
  readonly projectId: string;
  /** One promise for each item; none rejects. */
  readonly items: readonly Promise<ItemOutcome>[];
  /** Aborted when the token ends. */
  readonly tokenEnded: AbortSignal;
  /** Called when the reader went away: its calls are not waited for any more. */
  readonly heardGone: () => void;
  /** How long the reader may leave written data untaken, and what happens then. */
  readonly slowMs: number;
  readonly cut: () => void;
  /** Called once, when the last line is written or the reader is given up. */
  readonly ended: () => void;
}

/** Proxies and our own client take a connection that is silent for longer for dead. */
const KEEP_ALIVE_MS = 15_000;

const endedToken = (): ToolplaneError =>
  new ToolplaneError("unauthorized", "the token was revoked or has expired while the calls were waited for");

interface Ready {
  readonly index: number;
  readonly outcome: ItemOutcome;
}

export const streamBatch = (options: BatchStreamOptions): ReadableStream<Uint8Array> => {
  const { engine, projectId, items, tokenEnded, slowMs } = options;
  const alarm = createAlarm(systemClock);
  const ready: Ready[] = [];
  let isAsleep = false;
  // Runs after everything that settles in the same moment (BS1).
  const ring = (): void => {
    if (!isAsleep) return;
    isAsleep = false;
    process.nextTick(alarm.wake);
  };
  const lines = createLineStream(() => {
    options.heardGone();
    alarm.wake();
  });
  const open = new Set(items.keys());
  items.forEach((item, index) => {
    void item.then((outcome) => {
      ready.push({ index, outcome });
      ring();
    });
  });

  const answerTexts = createAnswerTexts(engine, projectId);
  /** The lines of the first items that are ready; the other items stay. */
  const nextLines = async (): Promise<string> => {
    const texts = await answerTexts(ready.map(({ outcome }) => (tokenEnded.aborted ? endedToken() : outcome)));
    const taken = ready.splice(0, texts.length);
    for (const { index } of taken) open.delete(index);
    return taken.map(({ index }, at) => `{"index":${index},${texts[at]?.slice(1)}\n`).join("");
  };

  const run = async (): Promise<void> => {
    while (open.size > 0 && !lines.gone()) {
      if (ready.length === 0) {
        isAsleep = true;
        await alarm.wait(KEEP_ALIVE_MS);
        isAsleep = false;
      }
      const text = ready.length === 0 ? "\n" : await nextLines();
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
