// Where a call stands in its queue, in words. Pure.

import type { QueuePlace } from "@toolplane/engine";

export const callsText = (count: number): string => (count === 1 ? "1 call" : `${count} calls`);

/** Why calls that were made later may start earlier. */
const TURNS: Readonly<Record<QueuePlace["line"], string>> = {
  one: "",
  session: "",
  agents: ", because the agents take turns",
  gates: ", because the tools of the project take turns",
};

/** How many calls start before this one, as the queue stands. */
export const aheadText = ({ ahead, isAtLeast, line }: QueuePlace): string => {
  if (ahead === 0) return "this call is the next one";
  const count = `${isAtLeast ? "at least " : ""}${ahead}`;
  const calls = ahead === 1 ? "call" : "calls";
  if (line === "session") return `${count} ${calls} of its session ${ahead === 1 ? "is" : "are"} ahead of it`;
  if (line === "one") return `${count} ${calls} ${ahead === 1 ? "is" : "are"} ahead of it`;
  return `${isAtLeast ? "" : "about "}${count} ${calls} ${ahead === 1 ? "starts" : "start"} before it${TURNS[line]}`;
};

/** How many calls of its target run, and how many start before it. */
export const placeText = (place: QueuePlace): string =>
  `${place.running === 1 ? "1 call runs" : `${place.running} calls run`} now, and ${aheadText(place)}`;
