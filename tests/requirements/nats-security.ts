// Rules of the bus that keep tenants and planes on one NATS apart.

import type { Rule } from "./rule.ts";

export const rules = [
  {
    id: "NATS-SEC-1",
    source: "interfaces 5",
    part: "engine",
    text: "Every pair of project and target that is served over NATS has a durable of its own, filtered to both; its name names no other pair. Durables that served a target in all projects are dropped.",
  },
  {
    id: "NATS-SEC-2",
    source: "interfaces 5",
    part: "bus",
    text: "A durable says which plane made it: another plane neither uses, changes, lists nor drops it, and a plane that may not start has touched nothing.",
  },
] as const satisfies readonly Rule[];
