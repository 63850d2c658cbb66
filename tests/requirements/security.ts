// Security checks that belong to no single package's messages.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEC-7-1", source: "security 7", part: "security", text: "A tool can name only variables on the project's allow-list; DATABASE_URL and NATS_* never." },
  { id: "SEC-7-2", source: "security 7", part: "security", text: "A missing credential is auth_failed, not an anonymous call." },
  { id: "SEC-7-3", source: "security 7", part: "security", text: "Tokens are compared in constant time." },
  { id: "SEC-11-1", source: "security 11", part: "security", text: "The API binds to loopback by default, checks Host and Origin, and has no wildcard CORS." },
  { id: "SEC-11-2", source: "security 11", part: "security", text: "Rate limits are keyed by the tenant." },
  { id: "SEC-13-1", source: "security 13", part: "security", text: "Specifications are fetched under the egress guard and cannot point a tool at loopback." },
  { id: "SEC-14-1", source: "security 14", part: "security", text: "A token of one project reads no card, inbox, trace or call of another, by any route, also with the right id." },
  { id: "SEC-16-1", source: "security 16", part: "security", text: "Started with an empty configuration nothing is open: no anonymous API, no egress, no host command, no readable variable." },
] as const satisfies readonly Rule[];
