// Brains and transcripts: what decides an agent's next step, and what it is shown.

import type { Rule } from "./rule.ts";

export const rules = [
  // scripts
  { id: "ARCH-9-S1", source: "architecture 9", part: "agents", text: "A script's step calls tools with values taken from the instruction, in their types, and shows its text in pieces." },
  { id: "ARCH-9-S2", source: "architecture 9", part: "agents", text: "The next step of a script follows from the results of the steps before it." },
  { id: "ARCH-9-S3", source: "architecture 9", part: "agents", text: "A script has no memory: the same transcript gives the same answer." },
  { id: "ARCH-9-S4", source: "architecture 9", part: "agents", text: "A script that has no step left, or misses a value, says so with its place." },
  { id: "ARCH-9-S5", source: "architecture 9", part: "agents", text: "A script may have cases chosen by the instruction." },
  { id: "ARCH-9-S6", source: "architecture 9", part: "agents", text: "A script may be written in TypeScript, with computed values." },
  { id: "ARCH-9-S7", source: "architecture 9", part: "agents", text: "A script can fail or hang on purpose, and stops when it is stopped." },
  { id: "ARCH-9-S8", source: "architecture 9", part: "agents", text: "Arguments given as text are passed on unread." },
  { id: "ARCH-9-S9", source: "architecture 9", part: "agents", text: "A bad script is refused with the line of the fault." },
] as const satisfies readonly Rule[];
