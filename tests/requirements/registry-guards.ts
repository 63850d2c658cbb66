// What a service cannot undo, and what is written down.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEC-guard-1", source: "security 8, 10", part: "server", text: "A service that leaves a person's options out registers its own part under them." },
  { id: "SEC-guard-2", source: "security 8, 10", part: "server", text: "A version that would weaken a person's option waits until a person accepts it; calls go on under the accepted one." },
  { id: "SEC-guard-3", source: "security 10", part: "server", text: "A tool a person deleted comes back only by a person." },
  { id: "SEC-guard-4", source: "security 8", part: "server", text: "A service may be stricter at once; a schema without room for a fixed parameter waits." },
  { id: "SEC-guard-5", source: "interfaces 4", part: "server", text: "An operator accepts the version that was looked at; a service accepts nothing." },
  { id: "SEC-guard-6", source: "security 10", part: "server", text: "A service with an administrator's token registers under the guards too." },
  { id: "SEC-guard-9", source: "security 8, 10", part: "engine", text: "A version of a program whose schema refuses what a person fixed waits for a person." },
  { id: "SEC-guard-10", source: "security 10", part: "engine", text: "Of the versions that were never accepted the newest 20 of a tool stay." },
  { id: "SEC-guard-11", source: "security 8", part: "engine", text: "A version whose service takes no leases names the pin that it ends, and so does its acceptance." },
  { id: "SEC-guard-7", source: "interfaces 6", part: "sdk", text: "A service whose version waits serves under the accepted one, says so once, and keeps pins right." },
  { id: "SEC-audit-1", source: "security 5", part: "server", text: "Every administrative act is written down with who, what and from which door, without secrets." },
  { id: "SEC-audit-2", source: "security 5", part: "server", text: "Every use of a control key is written down, and every one that was stripped." },
  { id: "SEC-audit-4", source: "security 2.3, 5", part: "server", text: "A call that an administrator settles in the name of its tool, without a lease, is written down; a service's results are not." },
  { id: "SEC-audit-3", source: "security 14", part: "server", text: "A project's audit is read by its own operators and by administrators only." },
] as const satisfies readonly Rule[];
