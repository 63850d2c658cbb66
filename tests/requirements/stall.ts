// No request stalls the others.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "STALL-1", source: "security 2.10", part: "protocol", text: "A JSON text whose values or differing member names would take long to read is refused before anything is built of it; rows, numbers and long texts are not." },
  { id: "STALL-4", source: "security 2.10", part: "engine", text: "Work in threads has a time limit and a typed refusal, tenants take turns for the threads, and a full line refuses its own tenant only." },
  { id: "STALL-5", source: "security 2.10", part: "server", text: "The longest pause of the event loop is measured; one that others notice is logged." },
  { id: "STALL-6", source: "security 2.10", part: "server", text: "Each of at least forty hostile documents, schemas, results and patterns is refused or read in a thread, never on the event loop." },
  { id: "STALL-7", source: "security 2.10", part: "agents", text: "An answer of a model that would take long to read is refused while it comes." },
  { id: "STALL-8", source: "security 2.10", part: "bridges", text: "A long line of a host is read in steps, with turns for others between them, and in its order." },
  { id: "STALL-9", source: "security 2.10", part: "agents", text: "The arguments of one step's calls are bounded together; a call beyond the bound is refused with payload_too_large, and smaller ones after it are made." },
] as const satisfies readonly Rule[];
