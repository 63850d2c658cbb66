// Agents: what runs their turns (worker), what thinks for them (brains), and the tools with which they manage each other (pmo).

export type { Brain, BrainAnswer, BrainPiece, BrainRequest, BrainSource, BrainToolCall } from "./brains/brain.ts";
