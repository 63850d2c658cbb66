// `toolplane tail`: the events of a project as they happen. After a lost connection it continues after the last event it has
// seen, so events are neither missed nor shown twice.

import type { PlaneEvent } from "@toolplane/sdk/client";
import { EVENT_KINDS } from "../../events/event-filter.ts";
import type { Command, CommandContext } from "../command.ts";
import { CALL_ENDS, type EventLine, planEventLine } from "../event-line.ts";
import { EXIT } from "../exit-code.ts";
import type { Flags } from "../options.ts";
import { oneLine } from "../plain-text.ts";
import { spanText } from "../time-text.ts";
import { WrongUsage } from "../wrong-usage.ts";

const readKinds = ({ only }: Flags): ReadonlySet<string> => {
  const kinds = only === undefined ? EVENT_KINDS : only.split(",").map((kind) => kind.trim());
  const strange = kinds.find((kind) => !(EVENT_KINDS as readonly string[]).includes(kind));
  if (strange !== undefined)
    throw new WrongUsage(`--only takes ${EVENT_KINDS.join(", ")}, with commas between, not "${strange}"`, "tail");
  return new Set(kinds);
};

/** Whether the person asked for such events. An event without a tool or a turn does not match a filter of one. */
export const planFilter = (flags: Flags): ((line: EventLine) => boolean) => {
  const kinds = readKinds(flags);
  const { agent, tool, turn } = flags;
  return (line) =>
    kinds.has(line.kind) &&
    (agent === undefined || line.agent === agent) &&
    (tool === undefined || line.toolName === tool) &&
    (turn === undefined || line.turnId === turn);
};

const AGENT_WIDTH = 10;

/** Calls that were asked for and have not ended; more than that at once are shown without how long they took. */
const MAX_OPEN = 10_000;

/** How long a call took from its request to its end, if both were seen. */
export const createSpans = (): ((line: EventLine) => string) => {
  const asked = new Map<string, string>();
  return ({ id, phase, at }) => {
    if (at === undefined || phase === undefined) return "";
    if (phase === "dispatched") {
      if (asked.size < MAX_OPEN) asked.set(id, at);
      return "";
    }
    const from = asked.get(id);
    if (from === undefined || !CALL_ENDS.has(phase)) return "";
    asked.delete(id);
    return ` in ${spanText(Date.parse(at) - Date.parse(from))}`;
  };
};

/** Shows events; one that does not say when it happened has the time of the one before it. */
const createShow = ({ output, io, flags }: CommandContext): ((event: PlaneEvent) => void) => {
  const isWanted = planFilter(flags);
  const spanOf = createSpans();
  let last: string | undefined;
  return (event) => {
    const line = planEventLine(event);
    if (line === undefined) return;
    const took = spanOf(line);
    if (!isWanted(line)) return;
    const { id, kind, subject, payload } = event;
    if (output.json) {
      output.data({ ...(id === undefined ? {} : { id }), event: kind, subject, payload });
      return;
    }
    const now = new Date(io.now()).toISOString();
    last = line.at ?? (kind === "str" ? now : (last ?? now));
    const { paint } = output;
    const time = paint("faint", last.slice(11, 19));
    const about = line.id === "" ? "" : `  ${paint("faint", oneLine(line.id))}`;
    output.line(
      `${time}  ${oneLine(line.agent).padEnd(AGENT_WIDTH)}  ${paint(line.tone, oneLine(line.text))}${took}${about}`,
    );
  };
};

export const tailCommand: Command = {
  name: "tail",
  usage: "",
  least: 0,
  most: 0,
  options: ["project", "after", "agent", "tool", "turn", "only"],
  summary: "show events as they happen, until Ctrl-C",
  async run(context) {
    const { io, output, client, flags, project, openPlane } = context;
    const show = createShow(context);
    const stopped = new AbortController();
    const stopListening = io.onStop(() => stopped.abort());
    let isAway = false;
    const plane = openPlane(() => {
      if (!isAway) output.note(`the server at ${client.url} is away; connecting again`);
      isAway = true;
    });
    try {
      output.progress(`waiting for events of project ${project}`);
      for await (const event of plane.events({ after: flags.after, signal: stopped.signal })) {
        isAway = false;
        show(event);
      }
      return EXIT.ok;
    } finally {
      output.progress("");
      stopListening();
    }
  },
};
