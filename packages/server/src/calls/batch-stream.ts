// The answers of a batch, one line for each item as it settles, so that a slow call holds up nobody.
//   BS1. What settles in the same moment is read and written together, up to a size; nothing waits for it.
//   BS2. What was not read yet stays where it is: results are only fetched when the reader has taken the lines before them.
//   BS3. A reader that takes nothing for a while is cut off. Its calls go on, and it finds them again by their keys.
//   BS4. When the token ends, the items that are left are refused and their results are not shown (APP6).
//   BS5. An empty line now and then says that the server is still there.

import type { Engine } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { createLineStream } from "../http/line-stream.ts";
import { writeWithin } from "../http/readers.ts";
import { createWake } from "../http/wake.ts";
import { createAnswerTexts, type ItemOutcome } from "./batch-answers.ts";

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
  // After everything that settles in the same moment (BS1).
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

  const answerTexts = createAnswerTexts(engine, projectId);
  /** The lines of the first that are ready; the others stay where they are. */
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
        await wake.wait(KEEP_ALIVE_MS);
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
