// The NATS adapter of the bus.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "ARCH-6-1", source: "architecture 6", part: "nats", text: "The nats adapter passes the same contract suite as the postgres adapter." },
  { id: "ARCH-6-2", source: "architecture 6", part: "nats", text: "Streams cg_cmd_v1r4 and cg_evt_v1r4 are created when missing, with 24 h and 7 d of retention." },
  { id: "ARCH-6-3", source: "architecture 6", part: "nats", text: "str messages travel on core NATS and may be lost." },
  { id: "ARCH-6-7", source: "architecture 6", part: "nats", text: "The adapter reconnects and goes on after the server was restarted." },
  { id: "ARCH-6-8", source: "architecture 6", part: "nats", text: "It works on one server and on a cluster of three." },
] as const satisfies readonly Rule[];
