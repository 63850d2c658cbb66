// Waits for a call's dead letter and replays it twice at once, as two people might.

import { type Engine, systemClock } from "@toolplane/engine";
import { CRASH_PROJECT } from "./crash-seed.ts";
import { insist } from "./insist.ts";
import { CALL_SHAPES } from "./item.ts";
import type { Journal } from "./journal.ts";

export interface ReplayOptions {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 50;
const PAGE = 500;

const findLetter = async ({ engine, signal }: ReplayOptions, call: string): Promise<string | undefined> => {
  while (!signal.aborted) {
    const letters = (await insist(() => engine.deadLetters.list(CRASH_PROJECT, { limit: PAGE }), signal)) ?? [];
    const found = letters.find((letter) => letter.kind === "call" && letter.toolCallId === call);
    if (found !== undefined) return found.deadLetterId;
    await systemClock.sleep(LOOK_EVERY_MS, signal);
  }
  return undefined;
};

export const replayLetterOf = async (options: ReplayOptions, call: string): Promise<void> => {
  const { engine, journal, signal } = options;
  const letter = await findLetter(options, call);
  if (letter === undefined) return;
  const replay = () => engine.deadLetters.replay(CRASH_PROJECT, letter);
  const twice = (await insist(() => Promise.all([replay(), replay()]), signal)) ?? [];
  for (const { replayedAs } of twice) {
    journal.write({ what: "replayed", letter, call: replayedAs });
    const { outcomes } = CALL_SHAPES.silent;
    journal.write({ what: "accepted", item: `replay-${letter}`, project: CRASH_PROJECT, call: replayedAs, outcomes });
  }
};
