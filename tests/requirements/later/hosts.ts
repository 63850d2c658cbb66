// Tool hosts over NDJSON: what is measured.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [{ id: "HOST-6-1", source: "tool-host 6", part: "hosts", text: "Round trips stay within 1.5 times of a bare echo at concurrency 1, 16 and 256 with 200 B and 10 kB messages." }] as const satisfies readonly Rule[];
