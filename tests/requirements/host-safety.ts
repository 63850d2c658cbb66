// What a tool host cannot do to the plane: read it, outlive it, or say what it was given.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEC-9-U1", source: "security 9", part: "processes", text: "As root every host process runs under a user of its own, which is neither the server's nor the database's." },
  { id: "SEC-9-U2", source: "security 9", part: "bridges", text: "Under that user a host reads neither the environment of the server nor its token, and has a home and a temporary folder." },
  { id: "SEC-9-U3", source: "security 9", part: "server", text: "A host that its own user cannot reach is refused with the path and what to do; user: inherit makes it run as the server." },
  { id: "SEC-9-U4", source: "security 9", part: "bridges", text: "A process that forked twice and left for a session of its own ends with its host: on close, on a deadline, and when the parent is killed." },
  { id: "SEC-9-U5", source: "security 9", part: "bridges", text: "A sandboxed host reads neither /proc nor the data directory, also when its sandbox names a folder that holds them." },
  { id: "SEC-9-U6", source: "security 9", part: "processes", text: "The home of a lent user is removed with that user's own rights, so that no link in it leads root to other files." },
  { id: "SEC-9-U7", source: "security 9", part: "server", text: "A signal from a host of the server's own user does not open the server's debugger." },
  { id: "SEC-9-U8", source: "security 9", part: "bridges", text: "A sandboxed host is refused when a folder it names holds a link to a directory, to nothing or out of the named folders, too many entries to look through, or is a folder of the system; the links of a workspace's node_modules lead it nowhere." },
  { id: "SEC-9-U9", source: "security 9", part: "bridges", text: "A sandboxed host leaves its folders neither by links deep in node_modules or in linked packages, nor by links it makes or copies, nor by files of Unix sockets, node:sqlite or the flags of V8." },
  { id: "SEC-9-U10", source: "security 9", part: "processes", text: "The home of a host whose server was killed is removed, with the rights of the host's user, when the next user is lent." },
  { id: "SEC-7-H1", source: "security 7", part: "bridges", text: "The keys a host was given are in no answer, card, definition, event, row or log line, whatever the host says." },
  { id: "SEC-7-H2", source: "security 7", part: "server", text: "A text env:NAME in a host's config is the value of that variable and counts as a secret; one that is not set is auth_failed." },
  { id: "SEC-7-P1", source: "security 7", part: "sdk", text: "The Python service removes its token and the secrets it is told from results, errors, parts and log lines, in the same forms as the TypeScript one." },
] as const satisfies readonly Rule[];
