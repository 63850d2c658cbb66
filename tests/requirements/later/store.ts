// Functions of the reference's store that no part of the plane calls: reading cards by call or by step, replacing the list of a box.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "UTP-4.5-E3", source: "utp 4.5", part: "cards by call or step", text: "Cards by tool_call_ids, optionally filtered by step and type, come newest first." },
  { id: "UTP-4.5-E4", source: "utp 4.5", part: "cards by call or step", text: "The latest card by step and type is the newest one." },
  { id: "UTP-4.6-E2", source: "utp 4.6", part: "replaced boxes", text: "Save with an id replaces the list." },
  { id: "UTP-4.6-E8", source: "utp 4.6", part: "replaced boxes", text: "Appends and replacements never mix." },
] as const satisfies readonly Rule[];
