// The web console.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "ARCH-10-1", source: "architecture 10", part: "console", text: "The console shows calls as they happen." },
  { id: "ARCH-10-2", source: "architecture 10", part: "console", text: "The console shows a turn's timeline, its lineage and its cards." },
  { id: "ARCH-10-3", source: "architecture 10", part: "console", text: "The console says why a call is stuck." },
  { id: "ARCH-10-4", source: "architecture 10", part: "console", text: "A person can approve and deny in the console." },
  { id: "ARCH-10-5", source: "architecture 10", part: "console", text: "The console's session cookie is HttpOnly and SameSite strict, set by a one-time link." },
  { id: "SEC-11-3", source: "security 11", part: "console", text: "The console shows tool output as text, never as HTML, under a content security policy." },
] as const satisfies readonly Rule[];
