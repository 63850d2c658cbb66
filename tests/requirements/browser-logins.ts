// Logins of browsers: one-time links, sessions, and what a page of another origin cannot do with them.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEC-11-L1", source: "interfaces 4", part: "server", text: "The session cookie is HttpOnly, SameSite=Strict, for the whole server, and Secure when the request came over TLS." },
  { id: "SEC-11-L2", source: "security 2.11", part: "server", text: "A request with a session cookie is carried out only when it comes from a page of this server; a page of another port, another site or no stated origin changes nothing." },
  { id: "SEC-11-L3", source: "security 2.11", part: "server", text: "Failed logins are throttled per address, counted before they are looked up, and add a bounded number of rows to the audit; a right code still gets in." },
  { id: "SEC-11-L4", source: "interfaces 4", part: "server", text: "A login code works once, also when two requests bring it at the same time, and not after its expiry or the end of its token." },
  { id: "SEC-11-L5", source: "interfaces 4", part: "server", text: "A session has the rights of its token and no more, and ends with the token, by logout, by revocation, by time and by idleness; open streams end with it." },
  { id: "SEC-11-L6", source: "interfaces 4", part: "server", text: "Codes and sessions are stored as hashes, and a session lives on over a restart." },
  { id: "SEC-11-L7", source: "interfaces 4", part: "server", text: "Links, logins, failed logins and ended sessions are in the audit, without their secrets." },
  { id: "SEC-11-L8", source: "interfaces 4", part: "server", text: "A login makes a new session and ends the browser's earlier one; a planted cookie is worthless." },
  { id: "SEC-11-L9", source: "security 2.11", part: "server", text: "Pages carry a content security policy without inline scripts or frames; routes of the API win over pages, and no path leaves the console's directory." },
  { id: "SEC-11-L10", source: "interfaces 2", part: "server", text: "up prints a link that logs a browser in, and toolplane console prints another." },
] as const satisfies readonly Rule[];
