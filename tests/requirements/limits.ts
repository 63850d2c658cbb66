// Limits: what may run at once, how often, and who is served next.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "LIM-room-1", source: "interfaces 3", part: "engine", text: "A gate lets pass as many calls as its slots, its tokens and its breaker allow, and knows when time alone opens it." },
  { id: "LIM-room-2", source: "interfaces 3", part: "engine", text: "No window has more starts than its limit, one burst and what 0.1 s of lateness makes up; without a burst, delayed calls are spread evenly." },
  { id: "LIM-pass-1", source: "issue 20", part: "engine", text: "Lanes and gates are served in turn, the limit of the project holds over all of them, and no request gets more than it asked for." },
  { id: "LIM-pass-2", source: "issue 20", part: "engine", text: "A gate remembers its tokens and whom it served last." },
  { id: "LIM-tool-1", source: "interfaces 3", part: "engine", text: "`concurrency` of a tool holds across processes and on every way a call is leased, and a freed slot wakes the next claim." },
  { id: "LIM-tool-2", source: "issue 20", part: "engine", text: "A holder that died keeps its slot until its lease has lapsed and no longer." },
  { id: "LIM-tool-3", source: "interfaces 3", part: "engine", text: "`rate` of a tool delays its calls; a waiting service gets the next one when its token is there, and a command over a bus is told when to come again." },
  { id: "LIM-tool-4", source: "interfaces 3", part: "engine", text: "Limits hold for calls of sessions and for pinned calls too, and a limited call has no result without a lease." },
  { id: "LIM-tool-5", source: "interfaces 3", part: "engine", text: "A limit that is set, raised or taken away holds for the open calls at once." },
  { id: "LIM-plain-1", source: "issue 20", part: "engine", text: "Limits hold for services that never lease: the command of a call is held until its gate lets it pass and is sent once, and the call counts until it settles." },
  { id: "LIM-project-1", source: "interfaces 3", part: "engine", text: "`concurrency` of a project delays the calls of all its tools; the plane's own managers hold no slot." },
  { id: "LIM-project-2", source: "interfaces 3", part: "engine", text: "`rate` and `queue` of a project refuse new calls with rate_limited and say when to come back; a used key answers all the same." },
  { id: "LIM-project-4", source: "issue 12", part: "engine", text: "The `queue` limit of a project holds for requests and steps that arrive at the same moment, in all processes." },
  { id: "LIM-bounds", source: "issue 12", part: "protocol", text: "Rates, windows and pauses of limits have bounds that the database can hold, the same at every door." },
  { id: "LIM-fair-1", source: "issue 20", part: "engine", text: "A claim is shared between the agents that have calls in the queue: the call of one does not wait for the thousand of another." },
  { id: "LIM-retry-1", source: "interfaces 3", part: "engine", text: "A failed attempt of a safe tool is tried again by its retry policy: by code, so often, so far apart, and not before the other side allows it; never without a policy and never for a tool that is not safe." },
  { id: "LIM-retry-2", source: "issue 20", part: "engine", text: "A retry waits as a row with its honest count of attempts, and ends with the last result when the attempts are used up." },
  { id: "LIM-break-1", source: "interfaces 3", part: "engine", text: "A breaker opens when enough runs of a window failed, lets one call through as a trial when its time is over, and closes by a success." },
  { id: "LIM-break-2", source: "interfaces 3", part: "engine", text: "While a breaker is open, new calls are refused in every process with breaker_open and when it closes, and waiting calls wait." },
  { id: "LIM-break-3", source: "issue 20", part: "engine", text: "With `target_breaker` of a project, the runs of all tools of a target open one breaker, in every process: new calls of the target are refused, waiting ones wait, and one trial closes it." },
  { id: "LIM-door-1", source: "interfaces 4", part: "server", text: "Over HTTP a refused call is 429 or 503 with an honest Retry-After; limits are read and changed by PATCH and GET of the project." },
  { id: "LIM-why-1", source: "issue 20", part: "server", text: "`why` says in words which limit holds a call, what holds the slots, when the next may start, which breaker is open since when, and when a failed attempt is tried again." },
  { id: "LIM-door-4", source: "issue 20", part: "server", text: "The limits of a tool are changed alone by PATCH of its limits, and count as a person's; a tool as it is shown can be edited and registered." },
  { id: "LIM-door-5", source: "issue 20", part: "server", text: "The command line and MCP say in how many seconds a refused call may be made; `call --wait` waits it out, and without it the command says the sentence and ends." },
  { id: "LIM-door-2", source: "interfaces 4", part: "server", text: "The last connections of a server are kept for /health and /live; other requests are then refused and their connections closed." },
  { id: "LIM-door-3", source: "issue 20", part: "server", text: "Event readers at the same place of the log share their reads, so that many readers do not slow down the calls." },
  { id: "LIM-delegated", source: "security 2.10", part: "pmo", text: "The open turns that agents of a project gave to others are at most 1,000, or as many as the project's limit says; a delegation beyond it is refused with rate_limited and makes no agent." },
] as const satisfies readonly Rule[];
