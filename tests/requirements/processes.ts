// The rules about processes, the embedded database, and the servers tests bring up.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "ARCH-5-1", source: "architecture 5", part: "processes", text: "The embedded server is the stock one npm ships, on a unix socket in a 0700 directory." },
  { id: "ARCH-5-2", source: "architecture 5", part: "processes", text: "As root the server runs under an unprivileged uid." },
  { id: "ARCH-5-3", source: "architecture 5", part: "processes", text: "It starts also when the checkout sits in a directory that uid cannot enter." },
  { id: "ARCH-5-4", source: "architecture 5", part: "processes", text: "What must move for that reason goes to one place per data directory, and the data directory's location file says so." },
  { id: "ARCH-5-5", source: "architecture 5", part: "processes", text: "The server syncs to disk; only an option that says so by name turns it off." },
  { id: "ARCH-5-6", source: "architecture 5", part: "processes", text: "A live server on the data directory is never killed and never doubled." },
  { id: "ARCH-5-7", source: "architecture 5", part: "processes", text: "PG_VERSION is checked; data of another major version is refused." },
  { id: "ARCH-5-8", source: "architecture 5", part: "testkit", text: "Tests can run on the npm server and on Debian's PostgreSQL 15." },
  { id: "ARCH-5-9", source: "architecture 5", part: "processes", text: "A killed server starts again without a manual step and has everything that was committed." },
  { id: "ARCH-5-10", source: "architecture 5", part: "processes", text: "The server can also listen on a random loopback port; there a password is asked." },
  { id: "ARCH-8-1", source: "architecture 8", part: "processes", text: "Children are watched by one small guard process in its own session, told their process groups over a pipe." },
  { id: "ARCH-8-2", source: "architecture 8", part: "processes", text: "When the parent dies, even by SIGKILL, the guard ends what may not outlive it." },
  { id: "ARCH-8-3", source: "architecture 8", part: "processes", text: "A guard that dies is replaced, and its successor is told everything." },
  { id: "ARCH-8-4", source: "architecture 8", part: "processes", text: "A child runs nothing before the guard has confirmed it." },
  { id: "ARCH-8-5", source: "architecture 8", part: "processes", text: "A child is started from an argv array; no part of it is shell text." },
  { id: "ARCH-8-6", source: "architecture 8", part: "processes", text: "A child gets exactly the environment it is given, and its mark." },
  { id: "ARCH-8-7", source: "architecture 8", part: "processes", text: "A child has a process group of its own, and is killed with its whole group." },
  { id: "ARCH-8-8", source: "architecture 8", part: "testkit", text: "A test run that is killed, directly or with the npm that started it, leaves no server, worker or program after three seconds." },
  { id: "INV-I8-P1", source: "architecture 4, I8", part: "processes", text: "What a statement carried does not reach the embedded server's log." },
  { id: "API-1-3", source: "interfaces 1", part: "testkit", text: "A server a test needs is found on PATH, else installed when that is possible, else a clear failure says how; never a silent skip." },
] as const satisfies readonly Rule[];
