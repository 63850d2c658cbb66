// Around the tool author's side: bundled tools, the Python service, and what the engine's leases prove.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "UTP-8.11-1", source: "utp 8.11", part: "bundled tools", text: "word_count lower-cases words, trims edge punctuation, orders by count down then word up, and caps top_k at 2000 with 50 as default." },
  { id: "UTP-8.11-2", source: "utp 8.11", part: "bundled tools", text: "emit_marker publishes a marker event for the UI with type, call card, source agent, trace and time." },
  { id: "UTP-8.11-3", source: "utp 8.11", part: "bundled tools", text: "A session id is an alias inside (project, agent); two agents using one alias do not share a session." },
  { id: "API-6-8", source: "interfaces 6", part: "sdk", text: "A Python tool service of one standard-library file claims, runs and settles over HTTP." },
] as const satisfies readonly Rule[];
