// The engine with a bus beside the database: the relay, what is kept on the carrier, what is taken back from it.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "ARCH-6-4", source: "architecture 6", part: "engine", text: "The outbox relay publishes with a message id, so a repeated publish is one message." },
  { id: "ARCH-6-6", source: "architecture 6", part: "engine", text: "A command nobody leased within the bound is published again with a new message id." },
  { id: "ARCH-6-9", source: "architecture 6", part: "engine", text: "Subjects, headers and payloads are the same bytes on both buses." },
  { id: "API-5-2", source: "interfaces 5", part: "engine", text: "For every registered target a durable pull consumer tool_{target} exists." },
] as const satisfies readonly Rule[];
