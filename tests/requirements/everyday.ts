// Rules of everyday use: what a person sees of calls, turns, traces and failures, and what an agent may use up.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "SEE-1", source: "interfaces 2", part: "server", text: "A call is shown with its arguments as the tool gets them and with what its caller did not send; hidden parameters stay hidden, and an agent does not see fixed ones." },
  { id: "SEE-2", source: "interfaces 2", part: "server", text: "A turn is shown with its instruction, the thought of each step, its calls with arguments and results in short, tokens and times." },
  { id: "SEE-3", source: "interfaces 2", part: "server", text: "`run --follow` shows calls as they happen; a turn that failed is told in one paragraph with what to do." },
  { id: "SEE-4", source: "interfaces 2", part: "server", text: "`tail` shows each event in one readable line, direct calls too, by agent, tool, turn and kind, and as JSON." },
  { id: "SEE-5", source: "interfaces 2", part: "server", text: "`why` takes a turn's id too, and says how many calls run and how many are ahead." },
  { id: "SEE-6", source: "interfaces 4", part: "server", text: "A trace is one tree: turns, their steps, the calls of these, and the turns they started." },
  { id: "SEE-7", source: "interfaces 2", part: "server", text: "Colours say what a status means, and are off without a terminal, with NO_COLOR and with --json." },
  { id: "SEE-8", source: "interfaces 2", part: "server", text: "What is advised about a failed call fits the situation its code names." },
  { id: "SEE-9", source: "interfaces 2", part: "server", text: "The server's log says when a service came or went and when a call ended with an unknown outcome." },
  { id: "SEE-10", source: "interfaces 2", part: "server", text: "A failure of a tool is found in the service's log, in `calls show`, in `why` and in what a model is told, for services and hosts in TypeScript and Python." },
  { id: "SEE-11", source: "interfaces 2", part: "server", text: "Events of a turn are told in the order in which a person understands them: a step ends before its turn does." },
  { id: "SEE-12", source: "interfaces 2", part: "server", text: "A call has one duration wherever it is shown: from the request for it to its settlement." },
  { id: "SEE-13", source: "interfaces 2", part: "server", text: "A name, flag or token that is wrong is answered with what was probably meant or where it came from." },
  { id: "SEE-14", source: "interfaces 2", part: "server", text: "A service that went away or fell silent is shown as gone, with when it was last heard." },
  { id: "SEE-15", source: "interfaces 2", part: "server", text: "A new call waits for a server that restarts when --wait is given; otherwise it says what to do." },
  { id: "SEE-16", source: "interfaces 2", part: "server", text: "`why` of a call that is over lists only what still matters; of a command to a service without leases it says where the command goes and what the plane cannot know." },
  { id: "BUDGET-1", source: "interfaces 4", part: "agents", text: "A turn has the steps, tokens and seconds that its request says, else its profile, else 8 steps; a turn that an agent asks for can only lower its profile's." },
  { id: "BUDGET-2", source: "interfaces 4", part: "agents", text: "A turn whose steps, tokens or time are used up ends with a deliverable and a code that names which." },
  { id: "BUDGET-3", source: "interfaces 4", part: "turn watchdogs", text: "A turn whose time is over while it waits for calls is ended, and its open calls are canceled." },
  { id: "BUDGET-keys", source: "interfaces 4", part: "protocol", text: "The reference of profiles names every key of a profile and of its llm_config, each under one name." },
  { id: "CONV-1", source: "interfaces 4", part: "server", text: "A turn that continues another begins with what was said before, in order, each thing once." },
  { id: "CONV-2", source: "interfaces 4", part: "server", text: "Only an ended turn of the same agent can be continued, by a caller that may see it." },
  { id: "TEAM-1", source: "utp 11.3", part: "pmo", text: "The turn that delegate_async starts is followed by its id; its deliverable does not come back by itself." },
  { id: "TEAM-2", source: "interfaces 4", part: "server", text: "An agent that was made for a task has a short display name and leaves the list with the task." },
  { id: "STOP-1", source: "utp 10.7", part: "server", text: "A stopped turn is shown as stopped; its task event is failed with error_code stopped and the reason." },
] as const satisfies readonly Rule[];
