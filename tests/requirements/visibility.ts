// What tokens see and may set in motion, and what requests may hold of the server's memory.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEC-matrix", source: "security 14", part: "server", text: "Every route gives each role its own things and nothing of another agent, target or project, in status and in body; a route without a declared expectation fails." },
  { id: "SEC-route-gives", source: "security 16", part: "server", text: "A route that does not say what it gives, or gives it to a role that must not have it, is refused before the server listens." },
  { id: "SEC-own-given", source: "interfaces 4", part: "server", text: "An agent's token reads cards and boxes that its agent was given, and no others." },
  { id: "SEC-own-token", source: "issue 12", part: "server", text: "A token of role agent that names no agent is an actor of its own: it sees and cancels what it started, over HTTP and MCP alike." },
  { id: "SEC-own-reused", source: "interfaces 4", part: "server", text: "Of a box that a turn it started shares with earlier turns, an agent's token sees the cards of its own turns, and it cannot give that box to a turn." },
  { id: "SEC-own-reserved", source: "security 2.1", part: "engine", text: "No agent is registered under a name that the events of the plane's own actors use." },
  { id: "SEC-own-action", source: "security 2.4", part: "server", doors: ["HTTP"], text: "The token of an agent asks for actions of its own agent only." },
  { id: "SEC-own-begun", source: "interfaces 4", part: "server", text: "An agent whose token begins a turn with a box is given what is in the box then, and not what comes into it later." },
  { id: "SEC-own-started", source: "interfaces 4", part: "server", text: "An agent's token reads turns, boxes and events of what its agent started, however far down, and of nobody else." },
  { id: "SEC-own-events", source: "interfaces 4", part: "server", text: "An agent's stream carries no events and no stream items of other agents." },
  { id: "SEC-own-tools", source: "interfaces 4", part: "server", text: "An agent's token calls only the tools its agent's profile allows, one by one and in batches." },
  { id: "SEC-own-delegation", source: "interfaces 4", part: "server", text: "An agent's token starts turns of other agents only as its delegation policy allows, and gives them no box that is not its own." },
  { id: "SEC-own-held", source: "interfaces 4", part: "server", text: "A tool's token reads the card of a call of its target while the call is held, and no other card." },
  { id: "SEC-own-revoked", source: "interfaces 4", part: "server", text: "A token that is revoked anywhere, or expires, ends its open streams and its waiting requests." },
  { id: "SEC-memory-bodies", source: "security 11", part: "server", text: "Bodies are bounded for each route, for each token and in all before they are read; one that stops in the middle is given up." },
  { id: "SEC-memory-mcp", source: "security 11", part: "server", text: "Messages that MCP sessions keep for a client that reconnects are bounded in bytes, for each session and in all." },
  { id: "SEC-memory-readers", source: "security 11", part: "server", text: "Readers of events are bounded in number and in bytes; one that does not read is let go with a reason and cut off." },
  { id: "SEC-memory-answers", source: "security 11", part: "server", text: "Answers of a batch are made in small pieces while they are read, a list of them is bounded in bytes, open batches are bounded in number, and an answer that is never read is cut off." },
  {
    id: "SEC-memory-lists",
    source: "security 11",
    part: "server",
    text: "Every list of documents that may be large (agents, approvals, tools, versions, profiles, cards, boxes) is bounded in bytes as it is in rows, and says how to read on; long answers that their readers have not taken are counted for each token and in all.",
  },
  { id: "SEC-memory-steps", source: "security 11", part: "agents", text: "What a step reads of its turn is bounded in bytes, whatever its cards have; steps that read much share the memory of the process and wait for room." },
  { id: "SEC-memory-claims", source: "security 11", part: "engine", text: "A claim takes calls of a few megabytes together; those beyond stay queued." },
  { id: "SEC-memory-connections", source: "security 11", part: "server", text: "Connections beyond the limit are closed at once." },
  { id: "SEC-admission", source: "security 11", part: "server", text: "One project that asks for much does not keep leases, heartbeats, calls and reads of others from the database." },
  { id: "SEC-webhook-lanes", source: "security 11", part: "server", text: "Deliveries of webhooks are bounded for each receiver and each project: a receiver that does not answer holds up no other project." },
  { id: "SEC-webhook-reads", source: "security 11", part: "server", text: "Events for webhooks are read a page of each project at a time, and what is due is sent in between: a project whose events never end holds up no other." },
  { id: "SEC-memory-arriving", source: "security 11", part: "server", text: "Bodies that have not come as a whole are bounded in number for each token and in all, logins too, and small ones have 15 seconds; a body that came with its headers passes." },
  { id: "SEC-memory-idle", source: "security 11", part: "server", text: "Connections of one address without a request are bounded: a new one closes the one that is idle the longest, and none with a request." },
  { id: "SEC-memory-waits", source: "security 11", part: "server", text: "Requests that wait are bounded in number for each token and in all; requests that do not wait pass." },
] as const satisfies readonly Rule[];
