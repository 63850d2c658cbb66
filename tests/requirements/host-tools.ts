// Hosts as tools: sessions in the engine, views and tags in the protocol, the tools of configured hosts in the server.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "HOST-2-T1", source: "tool-host 2", part: "protocol", text: "A tool with required tags is offered only to models that have them all." },
  { id: "HOST-2-V1", source: "tool-host 2", part: "protocol", text: "What a model sees is the host's formatted text; only the explicit provider-native envelope stays structured; the raw result is kept." },
  { id: "HOST-4-14", source: "tool-host 4", part: "engine", text: "Session state is stored per project, agent, host and alias, and written in the settling transaction." },
  { id: "HOST-4-15", source: "tool-host 4", part: "engine", text: "Calls of one session run one after the other; a failed call leaves the state unchanged." },
  { id: "HOST-4-16", source: "tool-host 4", part: "engine", text: "Without an alias a call starts from the init state and the returned state is dropped." },
] as const satisfies readonly Rule[];
