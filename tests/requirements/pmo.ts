// The project manager's tools: delegate, provision, fork and join.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "UTP-11.1-R1", source: "utp 11.1", part: "pmo", text: "The project manager's commands run on cmd.sys.pmo and go through the runner every tool goes through." },
  { id: "UTP-11.6-R1", source: "utp 11.6", part: "pmo", text: "A deferred call ends its heartbeats and reports nothing." },
  { id: "UTP-11.6-R2", source: "utp 11.6", part: "pmo", text: "A task keeps its child's deliverable card, the names of its fields and a digest of at most five of them." },
  { id: "UTP-11.6-R3", source: "utp 11.6", part: "pmo", text: "The result of the largest batch fits into one card." },
  { id: "UTP-11.6-R5", source: "utp 11.6", part: "pmo", text: "A batch whose call has ended stops its children." },
  { id: "UTP-W18-R1", source: "utp 15 W-18", part: "pmo", text: "A caller without boxes of its own can pass on none." },
  { id: "UTP-W18-R2", source: "utp 15 W-18", part: "pmo", text: "Provisioning is guarded by the profile an agent has, also when that cannot be found." },
  { id: "UTP-W27-R2", source: "utp 15 W-27", part: "pmo", text: "What a call makes has ids derived from the call." },
  { id: "UTP-W27-R1", source: "utp 15 W-27", part: "pmo", text: "The tools a project starts with are retry: safe." },
] as const satisfies readonly Rule[];
