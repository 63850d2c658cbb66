// The way out: which addresses may be asked, and whose variables go there.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEC-6-1", source: "security 6", part: "egress", text: "Egress is https only, with http only for hosts on an explicit development list." },
  { id: "SEC-6-2", source: "security 6", part: "egress", text: "A host outside a tool's allow-list is refused." },
  { id: "SEC-6-3", source: "security 6", part: "egress", text: "Loopback, private, link-local, shared and metadata addresses are refused in every spelling, IPv4-mapped, decimal, octal and with a trailing dot." },
  { id: "SEC-6-4", source: "security 6", part: "egress", text: "The connection goes to the address that was checked." },
  { id: "SEC-6-5", source: "security 6", part: "egress", text: "Redirects are limited, checked at every hop, and lose credentials when they change origin." },
  { id: "SEC-6-6", source: "security 6", part: "egress", text: "Responses are capped in size and time." },
  { id: "SEC-6-G1", source: "security 6", part: "egress", text: "A name that no server answers for ends in an error in some seconds and holds no thread that other names need." },
  { id: "SEC-6-G2", source: "security 6", part: "egress", text: "Names of the hosts file, of search domains and of the local network keep working." },
  { id: "SEC-2-G1", source: "security 2", part: "egress", text: "A request with a line end in a header, a header of the connection itself or a tunnelling method is refused before a name is resolved." },
  { id: "SEC-7-G1", source: "security 7", part: "server", text: "A variable is used only by the projects that the operator of the plane gives it to; the refusal is auth_failed with the variable, the project and what to set." },
  { id: "SEC-7-G2", source: "security 7", part: "server", text: "A variable that is bound to hosts is sent to no other host and given to no program." },
  { id: "SEC-16-G1", source: "security 16", part: "egress", text: "Without configuration nothing may be asked at a local address and no variable is given to anybody." },
  { id: "SEC-16-G2", source: "security 16", part: "server", text: "A configuration that was found and not named is not read when another user owns it, or, by root, when others can write it." },
  { id: "SEC-16-G3", source: "security 16", part: "server", text: "Compiled code that is kept between runs is read only from a folder that no other user can write." },
] as const satisfies readonly Rule[];
