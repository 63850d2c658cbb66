import type { Rule } from "./rule.ts";

export const rules = [
  { id: "ARCH-5-P1", source: "architecture 5", part: "engine", text: "Every statement of the engine is led to its rows by an index, whatever the tables held when its plan was made." },
  { id: "ARCH-5-P2", source: "architecture 5", part: "engine", text: "Hot paths are set-based: what a statement does grows with the size of a flush, not with its square." },
  { id: "ARCH-5-P3", source: "architecture 5", part: "engine", text: "Rows are looked up by their whole key from the first plan on, never by the project alone." },
] as const satisfies readonly Rule[];
