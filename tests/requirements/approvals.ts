// A person between a call and its execution.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "ENG-approval-1", source: "architecture 7", part: "engine", text: "An approved call goes into the queue with the queue time of its definition." },
  { id: "ENG-approval-2", source: "architecture 7", part: "engine", text: "A denied call settles failed with approval_denied and the reason, and is never executed." },
  { id: "ENG-approval-3", source: "architecture 7", part: "engine", text: "A call has one decision, the first; the same again is answered with it, the opposite is conflict." },
  { id: "ENG-approval-4", source: "architecture 7", part: "engine", text: "A call whose time to be approved is over cannot be approved." },
  { id: "ENG-approval-5", source: "architecture 7", part: "engine", text: "Only a call that waits for approval can be decided, and a decision names who made it." },
  { id: "ENG-approval-6", source: "interfaces 4", part: "engine", text: "The list of approvals shows what waits, longest first, with its arguments." },
  { id: "ENG-approval-7", source: "architecture 7", part: "engine", text: "A waiting call survives its process; its command leaves only after the approval." },
  { id: "ENG-approval-8", source: "architecture 7", part: "engine", text: "An approval moves neither the time a call was asked for nor a paused tool's calls." },
] as const satisfies readonly Rule[];
