// Rules the crash suite proves: what holds when processes, the database server or connections die.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "CRASH-1", source: "architecture I1, I3", part: "engine", text: "A process that dies by SIGKILL at any named fault point, around every commit and publish, loses, doubles and strands nothing." },
  { id: "CRASH-2", source: "architecture I1, I6", part: "engine", text: "Several engines under load, killed at random moments, lose, double and strand nothing." },
  { id: "CRASH-3", source: "architecture 5", part: "engine", text: "A database server killed under load with fsync on has everything that was acknowledged, and the engine goes on with its successor." },
  { id: "CRASH-4", source: "architecture 5", part: "engine", text: "A dispatch or step whose answer was lost around the commit is there once, and the caller is told its ids." },
  { id: "CRASH-5", source: "architecture 7", part: "engine", text: "A call whose claim was not answered is recalled or given back, never taken for one whose outcome is unknown." },
  { id: "CRASH-6", source: "architecture I6", part: "engine", text: "A settlement whose answer was lost counts once; the same again is idempotent." },
  { id: "CRASH-7", source: "architecture I6", part: "engine", text: "A process that stands still, inside a transaction or out of it, is replaced and changes nothing when it wakes up." },
  { id: "CRASH-8", source: "architecture 5", part: "engine", text: "An error at any fault point leaves the engine working and every promise kept." },
  { id: "CRASH-9", source: "issue crash suite", part: "engine", text: "The checker shares no code with the engine and sees every kind of damage it counts." },
  { id: "CRASH-10", source: "architecture I13", part: "engine", text: "Connections that break at random statements cost time, never work." },
  { id: "CRASH-11", source: "architecture I1", part: "engine", text: "A server that falls silent is given up on; nobody waits for it for ever." },
  { id: "CRASH-12", source: "architecture I13", part: "engine", text: "An external bus that forgets every message when its process dies costs time, never work." },
] as const satisfies readonly Rule[];
