// Rules of the protocol's doors: what a service says about a call, the cards it writes, the commands it is sent, the channel
// they travel in. The same at every door: HTTP, NATS, in the process.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "DOOR-1-1", source: "utp 2.3, 2.7, 6.2, 6.5; security 2.2, 2.3", part: "engine", doors: ["HTTP", "NATS", "in process"], text: "A report whose epoch, depth, agent, project, channel, turn, step, call or trace is not the call's, or is no such value, is refused with protocol_violation and changes nothing." },
  { id: "DOOR-1-2", source: "utp 2.3.2, 2.3.5", part: "engine", text: "A header that is left out says nothing: the call's own identity holds." },
  { id: "DOOR-1-3", source: "utp 2.3; security 2.2", part: "server", doors: ["HTTP", "NATS", "in process"], text: "Heartbeat, release, result and parts are refused when one of their headers contradicts the call; a result also when its trace does." },
  { id: "DOOR-1-4", source: "utp 2.3; security 2.2", part: "server", doors: ["NATS"], text: "A lease is refused when a header of the command, its trace or the channel it is asked in contradicts the call." },
  { id: "DOOR-1-5", source: "utp 6.5", part: "engine", doors: ["HTTP", "NATS", "in process"], text: "An empty CG-Lease is not a lease." },
  {
    id: "DOOR-1-6",
    source: "utp 2.3, 2.7, 8.10; security 2.2; I9",
    part: "server",
    doors: ["HTTP", "NATS", "in process"],
    text: "A call, a batch, a retry, a turn or an action is refused with protocol_violation, which names the clause, when one of its headers is no such value, contradicts the request, or chooses what the plane mints and counts: the depth, the epoch, the ids of turn, step and call, the parents. Nothing is made; headers that are left out are not judged.",
  },
  { id: "DOOR-1-7", source: "utp 2.3, 6.5, 17 D-26; security 2.9", part: "server", doors: ["host"], text: "host check fails a host that answers one request with what belongs to another, or tells one session the state of another, and names the clause." },
  {
    id: "DOOR-1-8",
    source: "utp 2.3; security 2.2",
    part: "server",
    doors: ["HTTP", "NATS"],
    text: "A claim, an exchange and every other request of a service about no single call is refused with protocol_violation when its epoch or depth is not a number, or its project is another; blank headers say nothing, but a blank depth is refused.",
  },
  { id: "DOOR-2-9", source: "utp 4.4; tool-host 1", part: "server", doors: ["host"], text: "host check fails a host that answers a request twice, a canceled one included, or sends parts after its answer, and names the clause." },
  { id: "DOOR-3-5", source: "utp 8.3.2, 8.3.3, 8.5; tool-host 3", part: "server", doors: ["host"], text: "host check fails a host that runs an execute_tool whose fields are missing or of the wrong kind, and names the clause." },
  { id: "DOOR-2-1", source: "utp 4.4", part: "engine", doors: ["HTTP", "NATS", "in process"], text: "A call that is open takes one result card of its actor; a second one is refused with conflict, which names the card to report instead; the same card again is a no-op." },
  { id: "DOOR-2-2", source: "utp 4.4", part: "engine", doors: ["HTTP", "NATS", "in process"], text: "A call that has settled takes no result card; the same card again is a no-op." },
  { id: "DOOR-2-3", source: "utp 4.4", part: "engine", text: "Of result cards that are written at the same moment one is taken, and none after a settlement that runs beside them." },
  { id: "DOOR-2-4", source: "utp 4.4", part: "sdk", text: "A writer whose card is refused because there is one reports the one that is there." },
  { id: "DOOR-2-5", source: "utp 4.4; I6", part: "engine", doors: ["HTTP", "NATS", "in process"], text: "While a lease on a call is live, a result card is taken only under that lease; without one or under another it is refused with lease_lost, and nothing is written." },
  { id: "DOOR-2-6", source: "utp 4.4", part: "engine", doors: ["HTTP", "NATS", "in process"], text: "A result in one step settles its call with the card that stands for it when their contents are the same; with other content it is refused with conflict, which names that card, and nothing is written." },
  { id: "DOOR-2-7", source: "I6; utp 4.4", part: "engine", doors: ["HTTP", "NATS", "in process"], text: "Of a call whose tool is paused, whose time has not come, whose session is busy or that awaits approval, a service without a lease writes neither a result nor a card: conflict, and nothing changes." },
  { id: "DOOR-2-8", source: "I6", part: "engine", doors: ["HTTP", "NATS", "in process"], text: "A service that never leases settles a queued call that nothing forbids to run, in one step and in two; a `plain` one also while its tool is paused, when its command was sent before." },
  { id: "DOOR-3-1", source: "utp 8.3.2, 8.3.3, 8.4, 8.5, D-05", part: "sdk", doors: ["NATS"], text: "Nothing runs from a malformed command on NATS: it is terminated with its clause in the log, and its call runs from the command that is published from its row." },
  { id: "DOOR-3-2", source: "utp 8.5; I13", part: "sdk", doors: ["NATS"], text: "A malformed command makes nobody publish anything and changes nothing about the call it names." },
  { id: "DOOR-3-3", source: "utp 8.5, 8.8", part: "sdk", doors: ["NATS"], text: "A plain service answers a malformed command with a failed result of bad_request." },
  { id: "DOOR-3-4", source: "utp 8.3.3, D-05", part: "server", doors: ["NATS"], text: "A lease that repeats inline data, identity, another card or tool, or a word that is not an after_execution, is refused; so is one that lacks a field of the command, which the refusal names." },
  { id: "DOOR-5-1", source: "utp 2.3.3, 6.4", part: "engine", doors: ["HTTP", "NATS", "in process"], text: "A command's subject and its CG-Channel-Id agree, also where the definition names a fixed channel; services at every door can run and report such a call." },
  {
    id: "DOOR-9-1",
    source: "utp 6.8",
    part: "turns",
    doors: ["HTTP", "NATS", "in process"],
    text: "A queued turn whose payload is JSON but no object ends with invalid_payload_type; one that is not JSON with invalid_payload_json. A request, an action or a question whose payload is not an object is refused and makes nothing.",
  },
] as const satisfies readonly Rule[];
