// The rules about who gets into the embedded database, and what a plane's own login may do there.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEC-DB-1", source: "security 9, 16", part: "server", text: "A sandboxed host that reaches the embedded database's socket cannot log in, and reads no password." },
  { id: "SEC-DB-2", source: "security 9, 16", part: "server", text: "Another user of the machine reaches neither the socket nor a file of the embedded database; as root its user is not shared." },
  { id: "SEC-DB-3", source: "security 16", part: "server", text: "The login a plane runs as reads and writes rows and nothing else: no programs, files, functions, extensions or roles." },
  { id: "SEC-DB-4", source: "security 16", part: "server", text: "A stopped database of an earlier version is given passwords, logins and owners at its next start." },
  { id: "SEC-DB-5", source: "security 16", part: "server", text: "A running one is closed while it runs, and sessions and logins from before are out." },
  { id: "SEC-DB-6", source: "security 16", part: "server", text: "Bringing a database over can die at any step, and the key can be lost: the next start finishes it." },
  { id: "SEC-DB-7", source: "security 16", part: "server", text: "The operator's way in is <data>/database-url, which sees everything and is not a superuser." },
  { id: "SEC-DB-8", source: "security 7", part: "server", text: "No password of the embedded database is in a command line, a log or /health." },
  { id: "SEC-DB-9", source: "security 16", part: "server", text: "On a PostgreSQL of one's own the plane can run as a login that owns nothing; migrations use another." },
  { id: "SEC-DB-11", source: "security 9, 16", part: "server", text: "A data directory that another user made, a key in it that is another user's, and a link or a second name in the place of what is kept there are refused, also when they are swapped in while the start looks." },
  { id: "SEC-DB-12", source: "security 9, 16", part: "server", text: "A data directory that is a link of another user is refused." },
  { id: "SEC-DB-10", source: "security 7, 16", part: "processes", text: "The embedded server's key is 0600, is made once however many make it, and the server is given verifiers, never passwords." },
] as const satisfies readonly Rule[];
