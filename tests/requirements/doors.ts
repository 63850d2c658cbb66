// Rules of the protocol's doors: what a service says about a call, the cards it writes, the commands it is sent, the channel
// they travel in. The same at every door: HTTP, NATS, in the process.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "DOOR-1-1", source: "utp 2.3, 2.7, 6.2, 6.5; security 2.2, 2.3", part: "engine", text: "A report whose epoch, depth, agent, project, channel, turn, step, call or trace is not the call's, or is no such value, is refused with protocol_violation and changes nothing." },
  { id: "DOOR-1-2", source: "utp 2.3.2, 2.3.5", part: "engine", text: "A header that is left out says nothing: the call's own identity holds." },
  { id: "DOOR-1-3", source: "utp 2.3; security 2.2", part: "server", text: "Heartbeat, release, result and parts are refused when one of their headers contradicts the call; a result also when its trace does." },
  { id: "DOOR-1-4", source: "utp 2.3; security 2.2", part: "server", text: "A lease is refused when a header of the command, its trace or the channel it is asked in contradicts the call." },
  { id: "DOOR-1-5", source: "utp 6.5", part: "engine", text: "An empty CG-Lease is no lease." },
] as const satisfies readonly Rule[];
