// Parts of the wire language that no shipped code speaks: telemetry attributes, the reference's table layout for cards, named
// faults of a result reader, services of exactly one consumer, durables without a name, the inbox progress event.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "UTP-1.1-10", source: "utp 1.1", part: "single-instance services", text: "A single-instance service is called svc1_<service>_<scope>." },
  { id: "UTP-1.3-5", source: "utp 1.3", part: "unnamed durables", text: "A durable without a name is {queue}_{subject with . as _, * as ALL, > as REST}, or {queue}_{8 digits of the md5} beyond 64 characters." },
  { id: "UTP-1.4-C16", source: "utp 1.4 F9", part: "inbox progress", text: "An inbox progress event names project, agent and status." },
  { id: "UTP-2.5-9", source: "utp 2.5", part: "telemetry", text: "Injected telemetry only fills missing headers." },
  { id: "UTP-3-12", source: "utp 3", part: "telemetry", text: "The system dict has 12 fields and no headers, and reads back into the same context." },
  { id: "UTP-3-13", source: "utp 3", part: "telemetry", text: "Telemetry attributes are cg.<field> for what is set." },
  { id: "UTP-4.1-C10", source: "utp 4.1", part: "storage view", text: "Storage folds project, type, author and time into metadata, and loading restores them." },
  { id: "UTP-4.1-C11", source: "utp 4.1", part: "storage view", text: "Folded fields override metadata keys of the same name." },
  { id: "UTP-4.1-C12", source: "utp 4.1", part: "storage view", text: "Loading falls back to semantic_type, producer.id, timestamp, then unknown and now." },
  { id: "UTP-8.9-C1", source: "utp 8.9", part: "result reader", text: "Reading a result has six named ways to fail." },
  { id: "UTP-8.9-C2", source: "utp 8.9", part: "result reader", text: "A card that breaks the protocol is handed to the reader." },
] as const satisfies readonly Rule[];
