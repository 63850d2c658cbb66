// Hosts as tools: sessions in the engine, views and tags in the protocol, the tools of configured hosts in the server.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "HOST-2-T1", source: "tool-host 2", part: "protocol", text: "A tool with required tags is offered only to models that have them all." },
  { id: "HOST-2-V1", source: "tool-host 2", part: "protocol", text: "What a model sees is the host's formatted text; only the explicit provider-native envelope stays structured; the raw result is kept." },
  { id: "HOST-2-V2", source: "tool-host 2", part: "bridges", text: "format_tool_result, format_tool_call_preview and to_display_format are asked for where a host offers them; a call that succeeded stays so whatever becomes of them." },
  { id: "HOST-4-T1", source: "tool-host 4", part: "bridges", text: "Deadline, retry_safe, session and control of a host's tools are the configuration's; tags and required tags the host's own." },
  { id: "HOST-4-20", source: "tool-host 4", part: "bridges", text: "Tools of a host register as host__tool on its own target; a schema that fails validation is reported by name and skipped." },
  { id: "UTP-D28-T1", source: "utp 17 D-28", part: "bridges", text: "A stdio host is an executor behind the runner and speaks nothing of the bus protocol." },
  { id: "HOST-4-14", source: "tool-host 4", part: "engine", text: "Session state is stored per project, agent, host and alias, and written in the settling transaction." },
  { id: "HOST-4-15", source: "tool-host 4", part: "engine", text: "Calls of one session run one after the other; a failed call leaves the state unchanged." },
  { id: "HOST-4-16", source: "tool-host 4", part: "engine", text: "Without an alias a call starts from the init state and the returned state is dropped." },
  { id: "API-3-H1", source: "interfaces 3", part: "server", text: "hosts in toolplane.yaml: name, command, config, pool, env, timeout_seconds, retry_safe, session, prefix, and their limits." },
  { id: "API-3-H2", source: "interfaces 3", part: "server", text: "A host entry that is wrong is refused with the key and the line before anything starts." },
  { id: "INV-I8-H1", source: "architecture 4", part: "server", text: "The value of a variable that a host is given is removed from everything the host says." },
  { id: "INV-I11-H1", source: "architecture 4", part: "server", text: "Control keys in a host's result are stripped unless its configuration allows control." },
  { id: "HOST-4-T2", source: "tool-host 4", part: "server", text: "Whatever a host answers, its call settles with the documented code: tool_error, internal_error, tool_timeout, result_too_large, result_not_serializable; a stack is never stored." },
  { id: "HOST-4-T3", source: "tool-host 4", part: "server", text: "A host killed in the middle of 200 calls: all settle, safe ones succeed on a new process, unsafe ones are outcome_unknown, sessions are consistent." },
  { id: "HOST-4-T4", source: "tool-host 4", part: "server", text: "When up is killed no process of a host is left after two seconds; when it stops they drain." },
  { id: "HOST-4-T5", source: "tool-host 4", part: "server", text: "Parts of a host's tool reach the HTTP event stream in order." },
  { id: "API-4-H1", source: "interfaces 4", part: "server", text: "GET /hosts shows every configured host, its tools, what was left out, its processes and its problem; a host that does not start stops nothing." },
  { id: "API-4-H2", source: "interfaces 2", part: "server", text: "why says that a call waits for a host that does not run." },
  { id: "API-4-H3", source: "interfaces 4", part: "server", text: "A claim brings the state of the call's session, and session_state of a result replaces it." },
  { id: "API-4-H4", source: "interfaces 4", part: "server", text: "A host that does not answer keeps ready waiting for two seconds at most; it is starting until it speaks, and its tools are registered then." },
  { id: "API-2-10", source: "interfaces 2", part: "server", text: "host check runs a host through the protocol's rules and prints pass or fail for each." },
  { id: "HOST-4-T6", source: "tool-host 4", part: "server", text: "Tools a host no longer has are deleted, a name somebody else owns is left out and named, and a host that could not start is tried again." },
] as const satisfies readonly Rule[];
