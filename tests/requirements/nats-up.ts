// The rules about a plane of several processes, over PostgreSQL alone or with NATS beside it.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "UP-9-1", source: "interfaces 3", part: "server", text: "Where NATS is and how to connect to it comes from the file, then TOOLPLANE_*, then flags; env:NAME and paths work as everywhere in the file." },
  { id: "UP-9-2", source: "interfaces 3", part: "server", text: "A wrong setting of the bus is one sentence naming where it stands, and never shows what a URL keeps secret." },
  { id: "UP-9-3", source: "architecture 6", part: "server", text: "NATS that goes away later takes nothing with it: calls go on, health stays 200 and says that the bus is away, and the log says both moments." },
  { id: "UP-9-4", source: "interfaces 2", part: "server", text: "The roles run as processes of their own in any mix over one database, with NATS or without; started together over an empty database they make one demo and one token." },
  { id: "UP-9-5", source: "interfaces 2", part: "server", text: "NATS that cannot be used at the start is one sentence naming the host and what to do, without what the URL keeps secret, and the exit code of a database that cannot be used." },
  { id: "UP-9-6", source: "interfaces 4", part: "server", text: "Processes that share a data directory and a database may start at the same moment: the token file that stays works." },
  { id: "UP-9-7", source: "interfaces 2", part: "server", text: "why says when no process has the role that would serve a call or think for a turn, and what to start." },
  { id: "UP-9-8", source: "architecture 5", part: "server", text: "Every process says its roles to the others through the names of its connections to the database." },
  { id: "UP-9-9", source: "architecture I1, 6", part: "server", text: "Any process of a plane over PostgreSQL and NATS may be killed, and NATS may lose all it holds, in the middle of calls and turns: nothing is lost, doubled or stuck." },
  { id: "UP-9-10", source: "architecture 6", part: "server", text: "A plane moves to NATS and back by its settings alone: calls and turns that waited go on, and a reader of events goes on where it was." },
  { id: "UP-9-12", source: "security 2.11", part: "server", text: "A flood of the gateway over NATS cuts only the gateway's own connection; one project takes at most half of what is worked on at once, and one operation of it a quarter." },
  { id: "UP-9-11", source: "architecture 6", part: "server", text: "One NATS account carries one plane: a process whose database is another than that of the plane already there does not start and says which process it is." },
] as const satisfies readonly Rule[];
