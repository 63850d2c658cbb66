// A tool service over NATS: the same sdk, another address.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "ARCH-6-5", source: "architecture 6", part: "sdk", text: "A command is acknowledged when its call is leased, and in progress is never left to time out silently." },
  {
    id: "API-5-N1",
    source: "interfaces 5",
    part: "sdk",
    text: "Over NATS a service attaches to its target, fetches from the durable, leases each command through the gateway and acknowledges what is leased, or waits for calls at the gateway when its tools may all run twice; it asks everything else by request and reply with the bodies of the HTTP routes; times are read relative to the server's stamp.",
  },
  { id: "API-5-N2", source: "interfaces 5", part: "sdk", text: "A command whose call is over, held or unknown is forgotten; one that is not due comes again in about a second; one that nobody can lease at the moment goes back and the claim fails; one that is wrong ends." },
  { id: "API-5-N3", source: "interfaces 5", part: "sdk", text: "A command of another project that shares the target's name is given back with a growing delay, and its own services run it." },
  { id: "API-5-N4", source: "interfaces 5", part: "sdk", text: "A lease that cannot be handed over is released, and commands that arrive while a service stops go back at once." },
  { id: "API-5-N5", source: "interfaces 5", part: "sdk", text: "A service outlives NATS: while it is away, restarts, or has lost its streams, the service keeps asking and says so once; what was queued runs." },
  { id: "API-5-N6", source: "interfaces 5", part: "sdk", text: "Results are sent, unchanged, until they are accepted or refused, and at once when the connection is back." },
  { id: "API-5-N7", source: "interfaces 5", part: "sdk", text: "A message that NATS could not carry is refused before it is sent, with what to do." },
  { id: "API-5-N8", source: "interfaces 5, 6", part: "sdk", text: "An idle service over NATS looks now and then whether its tools are registered, because nobody sees a plane go and come back empty." },
  { id: "API-5-N9", source: "interfaces 5", part: "sdk", text: "A lease whose answer was lost is asked for again under the same ticket, and is the same lease." },
  {
    id: "API-6-N1",
    source: "interfaces 6",
    part: "sdk",
    text: "TOOLPLANE_URL with nats:// or tls:// makes serveTools speak NATS with nothing else changed; user and password may stand in it, several servers are separated by commas, TOOLPLANE_NATS_CREDENTIALS and TOOLPLANE_NATS_INBOX say the rest, and every mistake is one sentence.",
  },
  { id: "API-6-N2", source: "interfaces 6", part: "sdk", text: "The NATS client library is loaded only by services that speak NATS." },
  { id: "API-6-N3", source: "interfaces 6", part: "sdk", text: "Passwords, tokens and credentials for NATS are in no log, error or result." },
  { id: "API-6-N4", source: "interfaces 6", part: "sdk", text: "The low-level pieces work over NATS: context from a message, card, result builder, report." },
  { id: "NATS-line-1", source: "interfaces 5, issue 16.3", part: "sdk", text: "A service whose tools may all run twice waits at the gateway with exchange: a call made meanwhile is written as leased to it, under a short lease, and comes with its card; no command leaves for it." },
  { id: "NATS-line-2", source: "interfaces 5, issue 16.3", part: "sdk", text: "A call of a tool that may not run twice is not handed out by an answer that can be lost: the exchange is refused, and the call is queued and not counted as started." },
  { id: "NATS-line-3", source: "interfaces 5, issue 16.3", part: "sdk", text: "Calls in an answer that no client received go back to the queue at once, where the server says so." },
  { id: "NATS-line-4", source: "interfaces 5, issue 16.3", part: "sdk", text: "An answer has no more than NATS carries; the calls beyond go back to the queue." },
  { id: "NATS-line-5", source: "interfaces 5, issue 16.3", part: "sdk", text: "When a gateway stops, the services that wait there are answered without calls." },
  { id: "NATS-line-6", source: "interfaces 5, issue 16.3", part: "sdk", text: "A command that was left out because a service was about to take the call is published within seconds when none does." },
  { id: "NATS-line-7", source: "interfaces 5, issue 16.3", part: "sdk", text: "A service that stopped gives back the calls of an answer that comes later." },
  { id: "NATS-line-8", source: "interfaces 5, issue 16.3", part: "sdk", text: "Where the plane hands out no calls by exchange, a service fetches commands." },
] as const satisfies readonly Rule[];
