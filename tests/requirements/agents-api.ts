// Agents as people meet them: over HTTP and on the command line.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "API-profiles", source: "interfaces 4", part: "server", text: "Profiles are uploaded as YAML, form or JSON, found by name whatever its case, listed and deleted; a bad one is refused in one sentence that shows no key." },
  { id: "API-agents", source: "interfaces 4", part: "server", text: "Agents are made of profiles, listed by pool, tag and status, deactivated and activated." },
  { id: "API-approvals", source: "interfaces 4", part: "server", text: "Operators see which calls wait for a person and decide about each once; agents do not." },
  { id: "API-actions", source: "interfaces 4", part: "server", text: "A person's action over HTTP is a turn of one call, carried out once per action_id and message_id; the answer is its acknowledgement, a refusal has the status of its code." },
  { id: "API-turns", source: "interfaces 4", part: "server", text: "Turns are asked for once per key, waited for, listed, shown with their steps and stopped; the deliverable is in the answer." },
  { id: "CLI-agents", source: "interfaces 2", part: "server", text: "run starts a turn and shows its deliverable, --follow its steps and text; turns lists, shows and stops; calls approve and deny decide." },
  { id: "SLICE-killed-agents", source: "architecture 9", part: "server", text: "After SIGKILL of the whole stack while agents work, the next start ends every turn once, without a hand." },
  { id: "AGENT-profile-keys", source: "demands 1", part: "protocol", text: "A key of a profile with a mistake in it is refused with the key that was meant; other further keys are kept." },
  { id: "AGENT-script-early", source: "demands 1", part: "agents", text: "A bad script is refused when its profile is registered, with the place and the mistake." },
  { id: "AGENT-story", source: "architecture 9", part: "server", text: "A story of parallel tools, delegation, a batch with a failing and a silent child, and an approval leaves the same cards, events and deliverable when its worker is killed." },
] as const satisfies readonly Rule[];
