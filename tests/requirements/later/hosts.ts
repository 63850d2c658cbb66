// Tool hosts over NDJSON: the child side and the supervisor. The messages themselves belong to protocol.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "HOST-4-1", source: "tool-host 4", part: "hosts", text: "A host is started from an argv array without a shell, with an allow-list of variables, in its own process group, in a pinned directory." },
  { id: "HOST-4-2", source: "tool-host 4", part: "hosts", text: "The process group is killed on a deadline, on close, and when the parent dies." },
  { id: "HOST-4-3", source: "tool-host 4", part: "hosts", text: "Line length, in-flight requests, queue, startup, call deadline, idle time and restarts each have a limit with a default and an option." },
  { id: "HOST-4-4", source: "tool-host 4", part: "hosts", text: "After five crashes in sixty seconds the breaker opens, and a half-open probe closes it." },
  { id: "HOST-4-5", source: "tool-host 4", part: "hosts", text: "Restarts back off exponentially." },
  { id: "HOST-4-6", source: "tool-host 4", part: "hosts", text: "success false becomes failed tool_error with the host's message." },
  { id: "HOST-4-7", source: "tool-host 4", part: "hosts", text: "ok false becomes failed internal_error with type and detail and never the stack." },
  { id: "HOST-4-8", source: "tool-host 4", part: "hosts", text: "A crash before the request was written, or of a tool listed as retry_safe, is tried again and then upstream_unavailable." },
  { id: "HOST-4-9", source: "tool-host 4", part: "hosts", text: "A crash after the request was written, of a tool that is not safe, is outcome_unknown." },
  { id: "HOST-4-10", source: "tool-host 4", part: "hosts", text: "A missed deadline is tool_timeout." },
  { id: "HOST-4-11", source: "tool-host 4", part: "hosts", text: "A line over the limit is result_too_large." },
  { id: "HOST-4-12", source: "tool-host 4", part: "hosts", text: "Stray text on stdout is a diagnostic event and the call goes on." },
  { id: "HOST-4-13", source: "tool-host 4", part: "hosts", text: "Request ids are random per attempt." },
  { id: "HOST-4-17", source: "tool-host 4", part: "hosts", text: "A host that did not negotiate cancel gets one request per process at a time." },
  { id: "HOST-4-18", source: "tool-host 4", part: "hosts", text: "A host silent on hello for one second is started again as plain v1." },
  { id: "HOST-4-19", source: "tool-host 4", part: "hosts", text: "command [node, ...] means the project's own Node; PATH, HOME, TMPDIR and LANG always pass." },
  { id: "HOST-4-21", source: "tool-host 4", part: "hosts", text: "A host lacking an optional method is treated as not offering it, never as failing." },
  { id: "HOST-4-22", source: "tool-host 4", part: "hosts", text: "Parts reach str.agent.{agent_id}.part in order, and none after the response." },
  { id: "HOST-5-1", source: "tool-host 5", part: "hosts", text: "A host gets only the extensions it answered hello with; one that answers with an error gets plain v1." },
  { id: "HOST-5-5", source: "tool-host 5", part: "hosts", text: "With deadline negotiated execute_tool carries deadline_ms." },
  { id: "HOST-5-6", source: "tool-host 5", part: "hosts", text: "log events carry level and message and become log records, not parts." },
  { id: "HOST-6-1", source: "tool-host 6", part: "hosts", text: "Round trips stay within 1.5 times of a bare echo at concurrency 1, 16 and 256 with 200 B and 10 kB messages." },
  { id: "HOST-6-2", source: "tool-host 6", part: "hosts", text: "Bytes in flight are capped, so 256 messages of 1 MB stay in bounded memory." },
] as const satisfies readonly Rule[];
