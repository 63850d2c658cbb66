import type { Card, JsonObject } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { turnStats } from "./usage.ts";

const thought = (metadata: JsonObject): Card =>
  ({ type: "agent.thought", metadata: { agent_turn_id: "turn_1", ...metadata } }) as unknown as Card;

test("[UTP-10.6-3] usage and cost of a turn add up over its own thoughts", () => {
  const cards = [
    thought({ llm_usage: { prompt_tokens: 3, details: { cached: 1, text: "x" } }, llm_response_cost: 0.5 }),
    thought({ agent_turn_id: "turn_0", llm_usage: { prompt_tokens: 1_000 }, llm_response_cost: 9 }),
    thought({ llm_usage: "none" }),
  ];
  expect(turnStats(cards, "turn_1", 3, { usage: { prompt_tokens: 4, details: { cached: 2 } }, cost: 0.25 })).toEqual({
    step_count: 3,
    llm_usage: { prompt_tokens: 7, details: { cached: 3 } },
    llm_response_cost: 0.75,
  });
  expect(turnStats([], "turn_1", 1)).toEqual({ step_count: 1 });
});
