// The caller's side: the client of programs, over HTTP and in the same process, and the route that takes many calls.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "API-batch-stream", source: "interfaces 4", part: "server", text: "With Accept: application/x-ndjson a batch answers one line per item as it settles; it is bounded in items and bytes, each item stands for itself, and a reader or a token that goes away ends the waiting." },
] as const satisfies readonly Rule[];
