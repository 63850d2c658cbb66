// Turns, delegation and people's actions word for word, at every door they have.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "UTP-11.3-D1", source: "utp 11.3, 11.6", part: "pmo", doors: ["HTTP", "in process"], text: "Delegation by a direct call has the agent it is made for as parent, one level above the child." },
  { id: "UTP-2.7-D1", source: "utp 2.7", part: "pmo", doors: ["HTTP", "in process"], text: "A direct call in an agent's name is as deep as the turn the agent is in, and never less than the agent was made; links made one after the other end at the limit." },
  { id: "UTP-2.7-D2", source: "utp 2.7", part: "turns", doors: ["HTTP"], text: "A turn that an agent starts is one deeper than the agent's own turn, or than the agent; a turn for itself outside of its turns is as deep as the agent." },
  { id: "UTP-2.1-D1", source: "utp 2.1", part: "turns", doors: ["NATS", "in process"], text: "A wakeup carries CG-Timestamp, CG-Version, CG-Msg-Type and CG-Sender, whoever rings." },
  { id: "UTP-2.5-D1", source: "utp 2.5, 2.6", part: "turns", doors: ["NATS", "in process"], text: "CG-Parent-Traceparent reaches a child's stored rows, wakeups and commands, and those of turns in the same trace." },
  { id: "UTP-5.3-D1", source: "utp 5.3", part: "protocol", doors: ["HTTP"], text: "tool_args_defaults_applied names the defaults that were applied, and no other." },
  { id: "UTP-10.3-D2", source: "utp 10.3", part: "turns", doors: ["NATS", "in process"], text: "The event of a suspension carries its resume_deadline, also while others are still awaited." },
  { id: "UTP-13.2-D1", source: "utp 13.2", part: "server", doors: ["HTTP"], text: "boxes/batch gives every card id unless a limit is given, and says of each box whether it was cut." },
  { id: "UTP-13.2-D2", source: "utp 13.2, 10.3", part: "server", doors: ["HTTP"], text: "The row of a suspended agent has resume_deadline: the latest time of what its turn awaits, and never later than the turn's own time." },
  { id: "UTP-11.6-D1", source: "utp 11.6, 12", part: "pmo", doors: ["HTTP", "NATS", "in process"], text: "fork_join takes 8 tasks unless the project's limit says otherwise; models are told, and more are refused before anything is made." },
  { id: "UTP-13.1-D1", source: "utp 13.1, 2.5", part: "ui actions", doors: ["HTTP", "NATS", "in process"], text: "One trace leads from a person's action to its turn, its command and its acknowledgements." },
  { id: "UTP-13.1-D2", source: "utp 13.1, 5.8", part: "ui actions", doors: ["HTTP", "NATS", "in process"], text: "An internal tool that is ui_allowed is admitted." },
  { id: "UTP-13.1-D3", source: "utp 13.1", part: "ui actions", doors: ["HTTP", "NATS", "in process"], text: "A repeated action hears the outcome of the first, with its card." },
  { id: "UTP-13.1-D5", source: "utp 13.1, 2.6", part: "ui actions", doors: ["HTTP", "NATS", "in process"], text: "The acknowledgement that an action is accepted carries the epoch of its turn." },
  { id: "UTP-13.1-D4", source: "utp 13.1", part: "ui actions", doors: ["HTTP", "NATS", "in process"], text: "An action is named by its action_id and by its message_id: either of them again is the same action." },
  { id: "UTP-7.5-D2", source: "utp 7.5 row 2", part: "turns", doors: ["HTTP", "NATS", "in process"], text: "When a head is gone and all that came for its turn was tried, the turn fails with one task event, and why tells." },
  { id: "REPO-clauses", source: "architecture 4", part: "repo", text: "A rule that names the doors at which it can be broken has a test through each of them." },
  { id: "REPO-checks", source: "architecture 4", part: "repo", text: "Every check of conform and host check that names a clause of utp.md has a wrong service at each transport, or a wrong host, and stands in the table of checks." },
] as const satisfies readonly Rule[];
