// What an agent says while it speaks, by step. Words pass by and are not stored; the thought of the step has them when it ended.
// Pure.

import { kindOf, turnOf } from "../events/call-event.ts";
import type { PlaneEvent } from "../events/event-stream.ts";

/** By step. */
export type Words = ReadonlyMap<string, string>;

const MOST_CHARS = 100_000;

export const addWords = (words: Words, turnId: string, events: readonly PlaneEvent[]): Words => {
  const own = events.filter((event) => !event.isLogged && kindOf(event) === "chunk" && turnOf(event) === turnId);
  if (own.length === 0) return words;
  const next = new Map(words);
  for (const { payload } of own) {
    const step = String(payload.step_id ?? "");
    // A step that is tried again speaks from the beginning.
    if (payload.chunk_type === "start") next.set(step, "");
    if (payload.chunk_type !== "content" || typeof payload.content !== "string") continue;
    next.set(step, ((next.get(step) ?? "") + payload.content).slice(-MOST_CHARS));
  }
  return next;
};
