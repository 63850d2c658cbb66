// The caller's side: the client of programs, over HTTP and in the same process, and the route that takes many calls.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "API-batch-stream", source: "interfaces 4", part: "server", text: "With Accept: application/x-ndjson a batch answers one line per item as it settles; it is bounded in items and bytes, each item stands for itself, and a reader or a token that goes away ends the waiting." },
  { id: "API-6-C1", source: "interfaces 6", part: "sdk", text: "call gives the result or throws a typed ToolplaneError with code, message, detail, retryable and the call's id when one exists." },
  { id: "API-6-C2", source: "interfaces 6", part: "sdk", text: "A request whose answer is lost is sent again with the key that was made once for the call, so the tool runs once." },
  { id: "API-6-C3", source: "interfaces 6", part: "sdk", text: "Calls made in the same moment travel together in few requests and are answered one by one; a lone call is sent at once, and a slow call holds up no other." },
  { id: "API-6-C4", source: "interfaces 6", part: "sdk", text: "An aborted signal ends the wait at once; the call is canceled on the plane only when that was asked for." },
  { id: "API-6-C5", source: "interfaces 6", part: "sdk", text: "A server that is killed and comes back costs time only: every call of the client is answered once." },
  { id: "API-6-C6", source: "interfaces 6", part: "sdk", text: "events goes on after the last event that was seen when its connection is cut." },
  { id: "API-6-C7", source: "interfaces 6", part: "sdk", text: "run gives steps and text as they come, and then what the agent hands over." },
  { id: "API-6-C8", source: "interfaces 6", part: "sdk", text: "tools gives a project's tools in the shapes that the ai package and the OpenAI and Anthropic formats take." },
  { id: "API-6-C9", source: "interfaces 6", part: "sdk", text: "callMany, wait, cancel and why do for many calls, or for one that was made before, what their names say." },
  { id: "API-6-L1", source: "interfaces 6", part: "server", text: "openPlane gives the same client inside the user's own process, serves tools there, and runs agents." },
  { id: "API-6-L2", source: "interfaces 6", part: "server", text: "A plane that was opened as a library and killed finishes its calls when it is opened again." },
  { id: "API-6-L3", source: "interfaces 6", part: "server", text: "openPlane refuses a data directory that another process holds, with the sentence that up has for it, and leaves no process when it is closed." },
  { id: "API-6-P1", source: "interfaces 6", part: "sdk", text: "connect() of hosts/python/toolplane.py makes calls with keys, waits, typed exceptions and retries, with the standard library alone." },
  { id: "API-6-P2", source: "interfaces 6", part: "sdk", text: "connect() of hosts/python/toolplane.py makes the pause that the plane asks for, and raises at once when that would end after the wait." },
] as const satisfies readonly Rule[];
