// `toolplane why`: where a call is and what it waits for.

import { isRecord } from "@toolplane/protocol";
import { textOf } from "../body.ts";
import { resolveCallId } from "../call-id.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { oneLine } from "../plain-text.ts";

export const whyCommand: Command = {
  name: "why",
  usage: "CALL_ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "explain where a call is and what it waits for",
  async run(context) {
    const { openPlane, output } = context;
    const id = await resolveCallId(context);
    const answer = await openPlane().why(id);
    if (output.json) {
      output.data(answer);
      return EXIT.ok;
    }
    output.line(oneLine(`call ${id} is ${textOf(answer, "status") ?? "?"}: ${textOf(answer, "why") ?? "?"}`));
    const todo = textOf(answer, "todo");
    if (todo !== undefined) output.line(oneLine(`what to do: ${todo}`));
    if (isRecord(answer.facts)) output.fields(Object.entries(answer.facts));
    return EXIT.ok;
  },
};
