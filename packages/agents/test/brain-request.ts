// A request as tests make it: only what matters is said.

import { parseProfile } from "@toolplane/protocol/registry";
import type { BrainPiece, BrainRequest } from "../src/brains/brain.ts";

export interface TestRequest {
  readonly request: BrainRequest;
  readonly pieces: BrainPiece[];
  readonly stop: AbortController;
}

export const testRequest = (given: Partial<BrainRequest> = {}, llmConfig: object = {}): TestRequest => {
  const pieces: BrainPiece[] = [];
  const stop = new AbortController();
  const request: BrainRequest = {
    projectId: "p1",
    agentId: "ann",
    agentTurnId: "turn_1",
    stepId: "step_1_1",
    stepNumber: 1,
    profile: parseProfile({ name: "tester", worker_target: "pool", llm_config: llmConfig }),
    system: "You test.",
    messages: [{ role: "user", content: "Count the words of: one two" }],
    tools: [],
    signal: stop.signal,
    onPiece: (piece) => pieces.push(piece),
    ...given,
  };
  return { request, pieces, stop };
};
