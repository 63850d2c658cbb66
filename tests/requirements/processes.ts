// The rules about processes and the embedded database.

import type { Rule } from "./rule.ts";

export const rules = [] as const satisfies readonly Rule[];
