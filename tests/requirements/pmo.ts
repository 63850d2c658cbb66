// The project manager's tools: delegate, provision, fork and join.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "UTP-11.1-R1", source: "utp 11.1", part: "pmo", text: "The project manager's commands run on cmd.sys.pmo and go through the runner every tool goes through." },
  { id: "UTP-11.6-R1", source: "utp 11.6", part: "pmo", text: "A deferred call ends its heartbeats and reports nothing." },
  { id: "UTP-W27-R1", source: "utp 15 W-27", part: "pmo", text: "The tools a project starts with are retry: safe." },
] as const satisfies readonly Rule[];
