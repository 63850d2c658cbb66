// The requirements manifest: every normative rule of the specifications, what it comes from, and which part keeps it.

import { rules as later } from "./later.ts";
import { rules as processes } from "./processes.ts";
import { rules as repo } from "./repo.ts";
import type { Rule } from "./rule.ts";

/** Parts whose every rule must be claimed by a test. Add a part when its first slice lands. */
export const BUILT_PARTS: ReadonlySet<string> = new Set(["protocol", "processes", "testkit", "bus", "repo"]);

export const REQUIREMENTS: readonly Rule[] = [...processes, ...repo, ...later];
