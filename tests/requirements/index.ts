// The requirements manifest: every normative rule of the specifications, what it comes from, and which part keeps it.

import { rules as later } from "./later.ts";
import { rules as processes } from "./processes.ts";
import { rules as registry } from "./registry.ts";
import { rules as repo } from "./repo.ts";
import type { Rule } from "./rule.ts";
import { rules as wireIdentity } from "./wire-identity.ts";

/** Parts whose every rule must be claimed by a test. Add a part when its first slice lands. */
export const BUILT_PARTS: ReadonlySet<string> = new Set(["protocol", "processes", "testkit", "bus", "repo"]);

/** Parts whose rules are listed and wait. A part in neither set is a misspelt one. */
export const LATER_PARTS: ReadonlySet<string> = new Set(["engine", ...later.map(({ part }) => part)].filter((part) => !BUILT_PARTS.has(part)));

export const REQUIREMENTS: readonly Rule[] = [...wireIdentity, ...registry, ...processes, ...repo, ...later];
