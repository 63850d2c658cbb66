// Rules the conformance kit keeps over NATS, and what the services that only know NATS promise.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "UTP-C36", source: "interfaces 5", part: "server", text: "conform fails a service that leaves a command it fetched without an acknowledgement." },
  { id: "UTP-C37", source: "interfaces 5", part: "server", text: "conform fails a service that acknowledges a command before it asked for the lease of its call." },
  { id: "UTP-C38", source: "utp 4.4; interfaces 5", part: "server", text: "conform fails a service that sends a result for a call whose lease was refused because somebody else holds it." },
  { id: "UTP-C39", source: "interfaces 5", part: "server", text: "conform fails a service that drops a call whose lease was refused because it is not due yet." },
  { id: "UTP-C40", source: "interfaces 5", part: "server", text: "conform fails a service that asks the gateway in the name of another actor or project." },
  { id: "UTP-C41", source: "interfaces 5", part: "server", text: "conform fails a service that acknowledges or leases a command of another project." },
  { id: "UTP-C42", source: "utp 2.2, 6.2", part: "server", text: "conform fails a service whose questions do not carry the call, or whose leases and reports do not carry the turn, in their headers." },
  { id: "UTP-C43", source: "interfaces 5", part: "server", text: "conform fails a service that takes leases and renews none while a call takes long." },
  { id: "UTP-C44", source: "utp 2.3, 6.4", part: "server", text: "conform fails a service that runs a command whose project or channel header is not that of its subject." },
  { id: "API-conform-nats", source: "interfaces 2", part: "server", text: "conform --nats-url plays the plane on a NATS server: leased and plain services that keep every clause fail nothing." },
  { id: "API-conform-nats-server", source: "interfaces 2", part: "server", text: "conform leaves a NATS server alone where a plane lives, says what to do when it cannot use one, and leaves nothing behind." },
  { id: "API-conform-nats-env", source: "interfaces 2", part: "server", text: "Over NATS the service is told address, project and target in its environment; without a command the variables are printed." },
  { id: "API-conform-nats-listens", source: "interfaces 5", part: "server", text: "A service that registers nothing and only listens on its subject is tried with --tool and --arguments." },
  { id: "NATSPY-1", source: "interfaces 5", part: "server", text: "A service of standard Python that knows only NATS registers its tool, leases a call and settles it." },
  { id: "NATSPY-2", source: "interfaces 5", part: "server", text: "A plain service that knows only NATS listens on the subject, writes its result card and reports it." },
  { id: "NATSPY-3", source: "interfaces 5", part: "server", text: "A call that takes longer than a lease is kept by heartbeats over NATS." },
  { id: "NATSPY-4", source: "interfaces 5", part: "server", text: "A canceled call ends the work of a service over NATS, reports nothing, and the next call runs." },
  { id: "NATSPY-5", source: "interfaces 5", part: "server", text: "A service over NATS finds its server again after a restart, and calls made meanwhile are answered." },
  { id: "NATSPY-6", source: "interfaces 5", part: "server", text: "The steps of the guide, typed one after the other, show a command and settle its call by hand." },
  { id: "NATSPY-7", source: "interfaces 5", part: "server", text: "The rights deploy/nats gives a tool service, and a plain one, are enough for a service that only knows NATS." },
  { id: "NATSPY-8", source: "utp 2.3, 8.4", part: "server", text: "The Python service over NATS runs no command without CG-Agent-Id, leased or plain: it terminates it and logs why." },
  { id: "NATSPY-9", source: "utp 8.5, 8.8", part: "server", text: "What the plain Python service refuses to run is a failed result of bad_request." },
] as const satisfies readonly Rule[];
