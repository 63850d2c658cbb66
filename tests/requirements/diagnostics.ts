// Rules of diagnostics: why a tool failed, in the words of its program, for operators.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "API-diagnostics-1", source: "interfaces 4", part: "server", doors: ["HTTP"], text: "A result may bring name, message and stack of what failed; operators see them with the call." },
  { id: "API-diagnostics-2", source: "interfaces 4", part: "server", doors: ["HTTP"], text: "Diagnostics are in no card and are shown to no viewer, agent or tool." },
  { id: "API-diagnostics-3", source: "interfaces 4", part: "engine", text: "Diagnostics that are long or cannot be stored are cut and cleaned; a result is never refused for them." },
  { id: "API-diagnostics-4", source: "interfaces 4", part: "engine", text: "Only the result that counts brings its diagnostics, and they are forgotten with their call." },
  { id: "API-diagnostics-5", source: "interfaces 4", part: "sdk", text: "A tool that throws leaves name, message, stack and causes, scrubbed, in the service's log and in its result's diagnostics." },
  { id: "API-diagnostics-6", source: "tool-host 4", part: "bridges", text: "The stack that a host sends with its error is in the operator's diagnostics and in no card." },
  { id: "API-2-cause", source: "interfaces 2", part: "server", text: "`calls show` shows an operator the cause of a failure, and what is advised about a failed call fits the way it failed." },
] as const satisfies readonly Rule[];
