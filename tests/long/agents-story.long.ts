// The story of tests/agents/story.test.ts with its worker killed at thirty random moments, by script and by model.

import { systemClock } from "@toolplane/engine";
import { describe, expect, test } from "vitest";
import { LAST_WORD } from "../agents/story/last-word.ts";
import { tellStory } from "../agents/story/story.ts";

const KILLS = 30;

describe.each([
  ["by their scripts", false],
  ["through a model behind a socket", true],
])("agents that think %s", (_how, byModel) => {
  test(`[AGENT-story] killed at ${KILLS} random moments leave the same record each time`, async () => {
    const began = systemClock.now();
    const calm = await tellStory({ byModel });
    // The whole time includes starting and stopping; the story itself is the middle of it.
    const lengthMs = (systemClock.now() - began) / 2;
    expect(calm.deliverable).toBe(LAST_WORD);
    const moments: number[] = [];
    let killed = 0;
    while (killed < KILLS) {
      const killAfterMs = Math.round(Math.random() * lengthMs);
      const told = await tellStory({ byModel, killAfterMs });
      expect(told.deliverable, `killed after ${killAfterMs} ms`).toBe(LAST_WORD);
      expect(told.record, `killed after ${killAfterMs} ms`).toEqual(calm.record);
      if (told.killed) killed += 1;
      moments.push(killAfterMs);
    }
    process.stdout.write(`story (${_how}): ${killed} kills in ${moments.length} runs, at ${moments.join(", ")} ms\n`);
  });
});
