// The child side of tool hosts: toolplane-host and hosts/python/toolplane_host.py.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "HOST-1-H1", source: "tool-host 1", part: "sdk", text: "A host answers requests concurrently, each exactly once; an id that is running is not answered twice." },
  { id: "HOST-1-H2", source: "tool-host 1", part: "sdk", text: "A host tolerates a carriage return before the line end, keys nobody knows and missing params." },
  { id: "HOST-1-H3", source: "tool-host 1", part: "sdk", text: "Events of a request precede its response, in order, and none follows it." },
  { id: "HOST-2-H1", source: "tool-host 2", part: "sdk", text: "Both hosts answer the required methods of a transcript written by hand as documented." },
  { id: "HOST-2-H2", source: "tool-host 2", part: "sdk", text: "Both hosts answer the optional methods of a transcript written by hand as documented." },
  { id: "HOST-2-H3", source: "tool-host 2", part: "sdk", text: "The response to a request with a state, and to init, carries the updated state." },
  { id: "HOST-2-H4", source: "tool-host 2", part: "sdk", text: "An optional method the plugin lacks is answered with MethodNotFound." },
  { id: "HOST-3-1", source: "tool-host 3", part: "sdk", text: "A JavaScript host module exports an object or a class with init, getToolSchemas and executeTool; a Python one the same in snake_case." },
  { id: "HOST-3-2", source: "tool-host 3", part: "sdk", text: "A module may export tools made with defineTool and gets every method derived." },
  { id: "HOST-3-3", source: "tool-host 3", part: "sdk", text: "Output of plugin code on stdout goes to stderr and never corrupts the protocol." },
  { id: "HOST-3-4", source: "tool-host 3", part: "sdk", text: "A thrown error becomes ok false with the class name as type and the message as detail." },
  { id: "HOST-3-5", source: "tool-host 3", part: "sdk", text: "A plugin value that is not JSON becomes an error naming the path." },
  { id: "HOST-3-6", source: "tool-host 3", part: "sdk", text: "A line that is not JSON is answered with id null and ParseError." },
  { id: "HOST-3-7", source: "tool-host 3", part: "sdk", text: "An unknown method is answered with MethodNotFound, a wrong v with VersionError, missing fields with InvalidParams." },
  { id: "HOST-3-8", source: "tool-host 3", part: "sdk", text: "A bad request never ends the host." },
  { id: "HOST-3-9", source: "tool-host 3", part: "sdk", text: "At the end of stdin the host finishes what is running within a bound and exits 0." },
  { id: "HOST-3-10", source: "tool-host 3", part: "sdk", text: "A crash in one call does not end the others where the language allows it." },
  { id: "HOST-3-11", source: "tool-host 3", part: "sdk", text: "Writes respect backpressure, and memory is bounded by what is in flight." },
  { id: "HOST-3-12", source: "tool-host 3", part: "sdk", text: "A long result delays other answers by the line that is on its way and no more." },
  { id: "HOST-5-2", source: "tool-host 5", part: "sdk", text: "cancel aborts the running request, whose response is then Canceled." },
  { id: "HOST-5-3", source: "tool-host 5", part: "sdk", text: "ping is answered at once, also while calls run." },
  { id: "HOST-5-4", source: "tool-host 5", part: "sdk", text: "shutdown drains and ends the host." },
  { id: "HOST-5-H1", source: "tool-host 5", part: "sdk", text: "A host answers hello with the extensions it has of those that were offered." },
  { id: "HOST-5-H2", source: "tool-host 5", part: "sdk", text: "deadline_ms aborts the call's signal when its time is over." },
  { id: "HOST-5-H3", source: "tool-host 5", part: "sdk", text: "With log negotiated, log entries are log events of their request; without it they go to stderr." },
  { id: "API-7-1", source: "interfaces 7", part: "sdk", text: "toolplane-host MODULE runs a JavaScript or TypeScript module as a host; hosts/python/toolplane_host.py MODULE a Python one." },
] as const satisfies readonly Rule[];
