// Around the tool author's side: direct calls, bundled tools, the Python service, and what the engine's leases prove.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "UTP-8.6-4", source: "utp 8.6", part: "engine", text: "A runner that died while leading is replaced when its lease lapses." },
  { id: "UTP-8.10-1", source: "utp 8.10", part: "direct calls", text: "A direct call needs a registered definition with a subject and a valid after_execution." },
  { id: "UTP-8.10-2", source: "utp 8.10", part: "direct calls", text: "A direct call mints its call, step and turn ids unless given, with epoch 0, and writes its tool.call card before the command." },
  { id: "UTP-8.10-3", source: "utp 8.10", part: "direct calls", text: "A direct call may wait for its result and then returns the card's outcome with the callback; without a result in time it says so." },
  { id: "UTP-8.10-4", source: "utp 8.10", part: "direct calls", text: "The caller of a direct call is an agent of the roster or a sys. or tool. actor." },
  { id: "UTP-8.11-1", source: "utp 8.11", part: "bundled tools", text: "word_count lower-cases words, trims edge punctuation, orders by count down then word up, and caps top_k at 2000 with 50 as default." },
  { id: "UTP-8.11-2", source: "utp 8.11", part: "bundled tools", text: "emit_marker publishes a marker event for the UI with type, call card, source agent, trace and time." },
  { id: "UTP-8.11-3", source: "utp 8.11", part: "bundled tools", text: "A session id is an alias inside (project, agent); two agents using one alias do not share a session." },
  { id: "API-6-8", source: "interfaces 6", part: "sdk", text: "A Python tool service of one standard-library file claims, runs and settles over HTTP." },
] as const satisfies readonly Rule[];
