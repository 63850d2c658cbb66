// The NATS adapter of the bus.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "ARCH-6-1", source: "architecture 6", part: "bus", text: "The nats adapter passes the same contract suite as the postgres adapter." },
  { id: "ARCH-6-2", source: "architecture 6", part: "bus", text: "Streams cg_cmd_v1r4 and cg_evt_v1r4 are created when missing, with 24 h and 7 d of retention." },
  { id: "ARCH-6-3", source: "architecture 6", part: "bus", text: "str messages travel on core NATS and may be lost." },
  { id: "ARCH-6-7", source: "architecture 6", part: "bus", text: "The adapter reconnects and goes on after the server was restarted." },
  { id: "ARCH-6-8", source: "architecture 6", part: "bus", text: "It works on one server and on a cluster of three." },
  { id: "ARCH-6-60", source: "architecture 6", part: "bus", text: "A server that lost its store gets streams and durables again, and consumers go on." },
  { id: "ARCH-6-61", source: "architecture 6", part: "bus", text: "While the server is away everything asked of the bus fails soon, with a code that says later." },
  { id: "ARCH-6-62", source: "architecture 6", part: "bus", text: "A stream with other settings is brought to ours where they may change and refused by name where they may not." },
  { id: "ARCH-6-63", source: "architecture 6", part: "bus", text: "What foreign clients write into the streams never reaches a handler: it becomes a dead letter with a reason." },
  { id: "ARCH-6-64", source: "architecture 6", part: "bus", text: "A dead letter is kept before its message goes; one that cannot be kept is tried again." },
  { id: "ARCH-6-65", source: "architecture 6", part: "bus", text: "No secret of an address or of credentials appears in an error." },
] as const satisfies readonly Rule[];
