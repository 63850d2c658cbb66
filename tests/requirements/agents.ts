// The agent worker: intake, steps, tool-call policy, how turns end, chunks and timing.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "UTP-1.4-W12", source: "utp 1.4 F12", part: "agents", text: "A step that streams publishes start, pieces and end with usage and cost, counted from 0." },
  { id: "UTP-4.7-W1", source: "utp 4.7", part: "agents", text: "A long result is shown as a preview, and a built-in tool reads on where it was cut." },
  { id: "UTP-10.1-6", source: "utp 10.1, 15 W-09", part: "agents", text: "All work in hand is kept alive by one statement; what is gone is aborted and the rest goes on." },
  { id: "UTP-10.1-7", source: "utp 10.1", part: "agents", text: "A worker keeps nothing of a suspended agent: thousands wait in one process, and all of them are resumed." },
  { id: "UTP-10.6-3", source: "utp 10.6", part: "agents", text: "Usage and cost go with each step, and their sum over the turn with its end." },
  { id: "UTP-10.8-2", source: "utp 10.8", part: "agents", text: "Timing says when the work waited, when the step started and how long the model took, each difference within one clock." },
  { id: "UTP-13.1-W1", source: "utp 13.1", part: "agents", text: "A ui_action is one call without a brain; the turn ends as the call did." },
  { id: "UTP-W13", source: "utp 15 W-13", part: "agents", text: "Whatever fails in a step, the turn ends with a status, an error code and a deliverable." },
  { id: "UTP-W14", source: "utp 15 W-14", part: "agents", text: "Every call a model asks for gets exactly one result, carried out or refused." },
  { id: "UTP-W20-A1", source: "utp 15 W-20", part: "agents", text: "A call is held against the profile's lists when it is made, not only when tools are shown." },
] as const satisfies readonly Rule[];
