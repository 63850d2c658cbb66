// What callers and services say about text, places, leases and definitions, and what becomes of it when it is not so.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEC-text-1", source: "security 16", part: "server", text: "Text the database cannot store (a NUL, a lone surrogate) is refused with 400 where it comes in, in every field of every body and query, and changes nothing." },
  { id: "SEC-position", source: "interfaces 4", part: "server", text: "An event id that the server cannot have given is refused with 400." },
  { id: "SEC-parts", source: "interfaces 4", part: "server", text: "Parts of a call are taken from the holder of its lease only, over HTTP and over NATS." },
  { id: "SEC-definition-hash", source: "interfaces 4", part: "server", text: "A stored result names a registered version of its own tool, or the one its call was made under." },
  { id: "SEC-11-port", source: "security 11", part: "server", text: "A request from a page of another host or another port of the same host is refused." },
  { id: "SEC-json-twice", source: "security 8", part: "server", text: "A body that names a member of an object twice is refused." },
  { id: "SEC-client-gone", source: "security 16", part: "server", text: "A client that closes its connection is not logged as an error." },
] as const satisfies readonly Rule[];
