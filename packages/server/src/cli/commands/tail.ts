// `toolplane tail`: the events of a project as they happen. After a lost connection it continues after the last event it has
// seen, so events are neither missed nor shown twice.

import type { PlaneEvent } from "@toolplane/sdk/client";
import type { Command, CommandContext } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { jsonText, oneLine } from "../plain-text.ts";

/** `cg.v1r4.project.channel.`: the same in every line of one project. */
const COMMON_TOKENS = 4;

const show = ({ output, io }: CommandContext, { id, kind, subject, payload }: PlaneEvent): void => {
  if (output.json) {
    output.data({ ...(id === undefined ? {} : { id }), event: kind, subject, payload });
    return;
  }
  const short = subject.split(".").slice(COMMON_TOKENS).join(".");
  const time = new Date(io.now()).toISOString().slice(11, 19);
  output.line(oneLine(`${time}  ${short}  ${jsonText(payload ?? null)}`));
};

export const tailCommand: Command = {
  name: "tail",
  usage: "",
  least: 0,
  most: 0,
  options: ["project", "after"],
  summary: "show events as they happen, until Ctrl-C",
  async run(context) {
    const { io, output, client, flags, project, openPlane } = context;
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
        show(context, event);
      }
      return EXIT.ok;
    } finally {
      output.progress("");
      stopListening();
    }
  },
};
