// Rules the HTTP API keeps.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEC-2-actor", source: "security 1", part: "server", text: "A token that is bound to an agent calls in that agent's name only, and nobody calls in the name of a part of the plane." },
  { id: "SEC-2-own", source: "security 1", part: "server", text: "A token of role agent ends only what its agent does or started, and one that is bound to an agent sees no other's turns and calls." },
  { id: "API-batch", source: "interfaces 4", part: "server", text: "A batch answers per item: one bad item fails alone." },
  { id: "API-calls-walk", source: "interfaces 4", part: "server", text: "A call is made, claimed, read, settled and answered, over HTTP alone." },
  { id: "API-cancel-retry", source: "interfaces 4", part: "server", text: "Cancel ends a call, retry makes a new one with the same arguments." },
  { id: "API-errors", source: "interfaces 4", part: "server", text: "Every failure has one shape, the status of its code, and says what to do." },
  { id: "API-events", source: "interfaces 4", part: "server", text: "Events resume after Last-Event-ID; parts of a running call arrive as they are made." },
  { id: "API-idempotency-http", source: "interfaces 4", part: "server", text: "The Idempotency-Key header and the body's key are the same thing." },
  { id: "API-lists", source: "interfaces 4", part: "server", text: "Calls are listed newest first, in pages, by status and tool." },
  { id: "API-services", source: "interfaces 4", part: "server", text: "A service that has stopped asking for work is not shown as one that waits for it." },
  { id: "API-no-project", source: "interfaces 4", part: "server", text: "Whatever is asked of a project that is not there is not_found, and names the project." },
  { id: "API-projects", source: "interfaces 4", part: "server", text: "Projects are made, listed, changed and deleted; not while calls are open unless forced." },
  { id: "API-tokens", source: "interfaces 4", part: "server", text: "A token is shown once, listed without its secret, and revoked." },
  { id: "API-tools-owner", source: "interfaces 4", part: "server", text: "A tool service registers for its own targets only, and a name belongs to who registered it." },
  { id: "API-tools-upload", source: "interfaces 4", part: "server", text: "A tool is uploaded as YAML, form or JSON; 201 new, 200 replaced or unchanged." },
  { id: "API-two-steps", source: "interfaces 4", part: "server", text: "The protocol's own two steps work over HTTP: write the card, report it." },
  { id: "API-why", source: "interfaces 4", part: "server", text: "Why says in one sentence where a call is and what to do." },
  { id: "SEC-10-yaml", source: "security 10", part: "server", text: "Hostile or broken YAML is refused with one sentence." },
  { id: "SEC-11-host", source: "security 11", part: "server", text: "A request for another host, or from another origin, is refused." },
  { id: "SEC-11-role", source: "security 11", part: "server", text: "A role reaches only its own routes, a project's token only its project." },
  { id: "SEC-11-token", source: "security 11", part: "server", text: "Everything but /health and /live needs a token that is known, whole and current." },
  { id: "SEC-8-proto", source: "security 8", part: "server", text: "Prototype keys in a body are harmless." },
  { id: "API-reference", source: "style 4.6", part: "server", text: "Every route is on the reference page." },
  { id: "API-reference-roles", source: "interfaces 4", part: "server", text: "Every role is explained on the reference page." },
] as const satisfies readonly Rule[];
