// Rules of the exchange: many things a tool service says in one request, at both doors, and the client that sends them together.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "API-exchange-1", source: "interfaces 4", part: "server", text: "An exchange takes results, heartbeats, releases and parts, answers each item in its order, and brings commands when it asks for them." },
  { id: "API-exchange-2", source: "interfaces 4", part: "server", doors: ["HTTP", "NATS"], text: "Each item of an exchange stands for itself: a bad one is refused alone, with the answer it would have had at its single route." },
  { id: "API-exchange-3", source: "interfaces 4", part: "server", text: "A field of an exchange that is wrong is refused by name, and nothing of the exchange happens." },
  { id: "API-exchange-4", source: "interfaces 4", part: "server", text: "What is said is answered at once: only an exchange that says nothing waits for work." },
  { id: "API-exchange-5", source: "interfaces 4", part: "server", text: "Claims and exchanges that name definitions get the pinned calls of these definitions; a claim that does not name it leaves a pinned call queued." },
  { id: "API-exchange-6", source: "interfaces 4, 5", part: "sdk", text: "What a service has to say while a request is on its way goes with the next one, bounded by number and size; what is alone goes at once." },
  { id: "API-exchange-7", source: "interfaces 4, 5", part: "sdk", text: "An exchange that fails as a whole is sent again item by item, each as patient as it would have been alone; a plane without exchanges is asked by the single operations." },
  { id: "API-exchange-8", source: "interfaces 4, 5", part: "server", text: "Server and service may be killed in the middle of exchanges: no result is lost and none counts twice." },
] as const satisfies readonly Rule[];
