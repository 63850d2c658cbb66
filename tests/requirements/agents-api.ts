// Agents as people meet them: over HTTP and on the command line.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "API-profiles", source: "interfaces 4", part: "server", text: "Profiles are uploaded as YAML, form or JSON, found by name whatever its case, listed and deleted; a bad one is refused in one sentence that shows no key." },
  { id: "API-agents", source: "interfaces 4", part: "server", text: "Agents are made of profiles, listed by pool, tag and status, deactivated and activated." },
  { id: "API-approvals", source: "interfaces 4", part: "server", text: "Operators see which calls wait for a person and decide about each once; agents do not." },
  { id: "AGENT-story", source: "architecture 9", part: "server", text: "A story of parallel tools, delegation, a batch with a failing and a silent child, and an approval leaves the same cards, events and deliverable when its worker is killed." },
] as const satisfies readonly Rule[];
