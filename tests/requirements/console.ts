// The web console.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "ARCH-10-1", source: "architecture 10", part: "console", text: "The console shows calls as they happen." },
  { id: "ARCH-10-2", source: "architecture 10", part: "console", text: "The console shows a turn's timeline, its lineage and its cards." },
  { id: "ARCH-10-3", source: "architecture 10", part: "console", text: "The console says why a call is stuck." },
  { id: "ARCH-10-4", source: "architecture 10", part: "console", text: "A person can approve and deny in the console." },
  { id: "ARCH-10-5", source: "architecture 10", part: "console", text: "The console's session cookie is HttpOnly and SameSite strict, set by a one-time link." },
  { id: "SEC-11-3", source: "security 11", part: "console", text: "The console shows tool output as text, never as HTML, under a content security policy." },
  { id: "CON-pages", source: "issue 22", part: "console", text: "Every page fits a desktop and a phone, dark and light, and axe finds nothing serious on it." },
  { id: "CON-states", source: "issue 22", part: "console", text: "Every list says when it is loading, empty, failing or forbidden, and what to do next." },
  { id: "CON-rights", source: "issue 22", part: "console", text: "A person is offered only what the role allows." },
  { id: "CON-back", source: "issue 22", part: "console", text: "A page that loses the server goes on when the server is back, without being loaded again." },
  { id: "CON-keys", source: "issue 22", part: "console", text: "The console can be used with the keyboard alone." },
  { id: "CON-size", source: "issue 22", part: "console", text: "The console's files are under 400 kB compressed, hold no inline script or style, and name no other host." },
] as const satisfies readonly Rule[];
