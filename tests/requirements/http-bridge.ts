// Tools that are HTTP operations: OpenAPI and the Jina services.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "UTP-9-1", source: "utp 9", part: "http bridge", text: "A tool of the HTTP bridge needs a non-empty jina or openapi object in its options, else bad_request." },
  { id: "UTP-9-2", source: "utp 9", part: "http bridge", text: "A definition that is not registered is not_found before any request leaves." },
  { id: "UTP-9-3", source: "utp 9", part: "http bridge", text: "mode is search or reader, with read and crawl meaning reader; unset it follows from the host, then from the path; else bad_request." },
  { id: "UTP-9-4", source: "utp 9", part: "http bridge", text: "The base URL's host must be exactly the one of the mode; https, the default port and no user information." },
  { id: "UTP-9-5", source: "utp 9", part: "http bridge", text: "The method is jina.method, then openapi.method, then GET, upper-cased." },
  { id: "UTP-9-6", source: "utp 9", part: "http bridge", text: "Arguments are the jina defaults overlaid by the card's arguments and the env injections." },
  { id: "UTP-9-7", source: "utp 9", part: "http bridge", text: "Service configuration overrides the definition's envs, more specific last; a missing or empty variable is auth_failed before anything is sent (security 2.7 stands above the protocol's "skip with a warning"), except the key of the reader." },
  { id: "UTP-9-8", source: "utp 9", part: "http bridge", text: "Search needs a non-blank q or query, and sends q only." },
  { id: "UTP-9-9", source: "utp 9", part: "http bridge", text: "Reader needs a non-blank url or target_url, which is percent-encoded into the endpoint template and removed from the arguments." },
  { id: "UTP-9-10", source: "utp 9", part: "http bridge", text: "GET sends arguments in the query string; other methods send a JSON body." },
  { id: "UTP-9-11", source: "utp 9", part: "http bridge", text: "Headers of openapi are overlaid by those of jina; Authorization is a bearer token from the named variable." },
  { id: "UTP-9-12", source: "utp 9", part: "http bridge", text: "The timeout is the first positive one configured, else 30 seconds; it always exists." },
  { id: "UTP-9-13", source: "utp 9", part: "http bridge", text: "A JSON body is parsed; JSON that does not parse, and anything else, is kept as text; latency_ms is added." },
  { id: "UTP-9-14", source: "utp 9", part: "http bridge", text: "401 and 403 are auth_failed, 404 not_found, 408 and a timeout tool_timeout, 429, 5xx and network failures upstream_unavailable and retryable, other 4xx bad_request." },
  { id: "UTP-9-15", source: "utp 9", part: "http bridge", text: "A request is tried again a bounded number of times, only for idempotent methods and 429, 502, 503, 504, and Retry-After is honoured." },
  { id: "UTP-9-16", source: "utp 9", part: "http bridge", text: "Secret values are in no card, log, error, trace or stored payload; logged URLs lose query values that came from envs." },
  { id: "UTP-9-17", source: "utp 9", part: "http bridge", text: "Stored error bodies are cut to a limit." },
  { id: "UTP-9-18", source: "utp 9", part: "http bridge", text: "A __cg_control in an upstream body is stripped unless the definition allows it, and its use leaves an audit entry." },
  { id: "UTP-9-19", source: "utp 9", part: "http bridge", text: "A 2xx body with a non-null error key is a failure of the upstream." },
  { id: "API-JINA-1", source: "jina", part: "http bridge", text: "A secret never enters a URL unless the definition says secrets_in_url and the host is not the reader." },
  { id: "API-JINA-2", source: "jina", part: "http bridge", text: "Options of a reader GET travel as headers; an argument without a header is dropped with a warning and never appended to the target URL." },
  { id: "API-JINA-3", source: "jina", part: "http bridge", text: "Fixed arguments that are only for bookkeeping are not sent upstream." },
  { id: "API-JINA-4", source: "jina", part: "http bridge", text: "Without a key search settles auth_failed and reader goes on anonymously." },
  { id: "API-JINA-5", source: "jina", part: "http bridge", text: "Accept is application/json unless the definition asks for text." },
  { id: "API-OPENAPI-1", source: "interfaces 3", part: "http bridge", text: "An OpenAPI operation becomes a tool named source__operation, or operation alone with an empty prefix." },
  { id: "API-OPENAPI-2", source: "interfaces 3", part: "http bridge", text: "Imported GET, HEAD, PUT and DELETE operations are safe to retry unless overridden; others are not." },
  { id: "API-OPENAPI-3", source: "interfaces 3", part: "http bridge", text: "Only operations matched by the configured patterns are imported." },
  { id: "API-OPENAPI-4", source: "interfaces 3", part: "http bridge", text: "A server URL of a specification is checked against allow_hosts at call time." },
] as const satisfies readonly Rule[];
