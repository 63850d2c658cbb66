// A tool service over NATS: the same sdk, another address.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "ARCH-6-5", source: "architecture 6", part: "sdk", text: "A command is acknowledged when its call is leased, and in progress is never left to time out silently." },
  {
    id: "API-5-N1",
    source: "interfaces 5",
    part: "sdk",
    text: "Over NATS a service fetches from the durable of its target, leases each command through the gateway, acknowledges what is leased, and asks everything else by request and reply with the bodies of the HTTP routes; times are read relative to the server's stamp.",
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
] as const satisfies readonly Rule[];
