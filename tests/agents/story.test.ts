// A whole story of agents, told while its worker is killed: the same cards, the same events, the same last word.

import { expect, test } from "vitest";
import { LAST_WORD } from "./story/last-word.ts";
import { tellStory } from "./story/story.ts";

test.each([
  ["by their scripts", false, 150],
  ["through a model behind a socket", true, 600],
])(
  "[AGENT-story] agents that think %s leave the same record whether or not their worker is killed",
  { timeout: 180_000 },
  async (_how, byModel, killAfterMs) => {
    const calm = await tellStory({ byModel });
    expect([calm.status, calm.deliverable]).toEqual(["success", LAST_WORD]);
    const told = await tellStory({ byModel, killAfterMs });
    expect(told.killed).toBe(true);
    expect(told.deliverable).toBe(LAST_WORD);
    expect(told.record).toEqual(calm.record);
  },
);
