// Rules of the first slice, proven with real processes.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SLICE-duplicate", source: "architecture I12", part: "server", text: "The same call twice is one execution; other arguments under its key are a conflict." },
  { id: "SLICE-concurrent", source: "demands 2", part: "server", text: "Concurrent duplicates with several services are one execution and one result card." },
  { id: "SLICE-killed-safe", source: "architecture 7", part: "server", text: "A service killed in the middle of a safe tool: another one finishes the call." },
  { id: "SLICE-killed-unsafe", source: "architecture 7", part: "server", text: "A service killed in the middle of an unsafe tool: outcome_unknown, never run again." },
  { id: "SLICE-cancel", source: "demands 6", part: "server", text: "Cancel reaches the tool and the caller." },
  { id: "SLICE-odd-results", source: "demands 5", part: "server", text: "Too slow, no JSON or too much: each a result the caller can read." },
  { id: "SLICE-poison", source: "architecture 5", part: "server", text: "One poisoned call of many fails alone." },
  { id: "SLICE-killed-stack", source: "architecture I1", part: "server", text: "After SIGKILL of the whole stack the next start finishes every call, once." },
  {
    id: "SLICE-packed",
    source: "interfaces 6",
    part: "server",
    text: "The five-line tool runs as written from an empty folder with packed packages.",
  },
] as const satisfies readonly Rule[];
