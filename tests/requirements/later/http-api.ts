// The HTTP API.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "UTP-13.2-5", source: "utp 13.2", part: "http api", text: "Steps, edges and heads can be listed with their filters, limits and cursor." },
  { id: "API-4-1", source: "interfaces 4", part: "http api", text: "Every route but health, live, the console's files and its login needs a token or the console's session." },
  { id: "API-4-2", source: "interfaces 4", part: "http api", text: "The first token is written to <data>/token with mode 0600." },
  { id: "API-4-3", source: "interfaces 4", part: "http api", text: "An error is {error:{code, message, detail?, retryable}} with the status of its code, on every route." },
  { id: "API-4-4", source: "interfaces 4", part: "http api", text: "Lists take limit and cursor." },
  { id: "API-4-5", source: "interfaces 4", part: "http api", text: "GET /openapi.json is OpenAPI 3.1 and agrees with the routes." },
  { id: "API-4-6", source: "interfaces 4", part: "http api", text: "A body over the limit is 413 payload_too_large." },
  { id: "API-4-7", source: "interfaces 4", part: "http api", text: "GET /health says status, version, protocol, store, bus and roles, and is 503 while starting or without the store." },
  { id: "API-4-8", source: "interfaces 4", part: "http api", text: "Deleting a project with open turns is refused unless forced." },
  { id: "API-4-9", source: "interfaces 4", part: "http api", text: "A tool definition can be sent as YAML, multipart or JSON: 201 when new, 200 when replaced or unchanged, with version and definition hash." },
  { id: "API-4-10", source: "interfaces 4", part: "http api", text: "A call answers 200 when settled within the wait and 202 when still running, with the documented fields." },
  { id: "API-4-11", source: "interfaces 4", part: "http api", text: "Idempotency-Key as a header and idempotency_key in the body mean the same." },
  { id: "API-4-12", source: "interfaces 4", part: "http api", text: "A batch of calls is answered per item." },
  { id: "API-4-13", source: "interfaces 4", part: "http api", text: "A call's status is one of queued, running, awaiting_approval, success, failed, canceled, timeout, partial." },
  { id: "API-4-14", source: "interfaces 4", part: "http api", text: "claim waits up to wait_seconds and gives commands with subject, headers, payload and lease." },
  { id: "API-4-15", source: "interfaces 4", part: "http api", text: "Only the holder of a lease may read the call's card by the service route." },
  { id: "API-4-16", source: "interfaces 4", part: "http api", text: "heartbeat answers with the new expiry and whether the call was canceled; a lost lease is 409 lease_lost." },
  { id: "API-4-17", source: "interfaces 4", part: "http api", text: "release gives an unstarted call back." },
  { id: "API-4-18", source: "interfaces 4", part: "http api", text: "result settles in one step and says whether it was idempotent." },
  { id: "API-4-19", source: "interfaces 4", part: "http api", text: "A foreign service can write a tool.result card and report it in two steps with CG-* request headers." },
  { id: "API-4-20", source: "interfaces 4", part: "http api", text: "events streams every evt and str message, and Last-Event-ID resumes evt without a gap." },
  { id: "API-4-21", source: "interfaces 4", part: "http api", text: "Tokens have roles bound to a project, and tool tokens are bound to an actor and targets." },
  { id: "API-4-22", source: "interfaces 4", part: "http api", text: "GET /metrics is Prometheus text." },
  { id: "API-4-23", source: "interfaces 4", part: "http api", text: "A webhook named by a call is told of its settlement, at least once." },
  { id: "API-4-24", source: "interfaces 4", part: "http api", text: "A call with not_before is not handed out earlier." },
] as const satisfies readonly Rule[];
