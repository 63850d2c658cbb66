// `toolplane audit ...`: who did what.

import { type Body, pathOf } from "@toolplane/sdk/client";
import { shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { showPage } from "../page.ts";

const detailOf = (entry: Body): string | undefined => {
  const text = JSON.stringify(entry.detail ?? {});
  return text === "{}" ? undefined : text;
};

const list: Command = {
  name: "audit list",
  usage: "",
  least: 0,
  most: 0,
  options: ["project", "limit", "cursor", "all"],
  summary: "list administrative acts and uses of control keys, newest first",
  async run(context) {
    const { client, project, flags } = context;
    const path = flags.all ? pathOf("audit") : pathOf("projects", project, "audit");
    showPage(context, await client.request({ path, query: { limit: flags.limit, cursor: flags.cursor } }), {
      empty: flags.all ? "nothing is written down yet" : `nothing is written down for project ${project} yet`,
      columns: [
        { title: "AT", value: (entry) => shortTime(entry, "at") },
        { title: "ACT", value: (entry) => textOf(entry, "act") },
        { title: "SUBJECT", value: (entry) => textOf(entry, "subject") },
        { title: "ACTOR", value: (entry) => textOf(entry, "actor") },
        { title: "ROLE", value: (entry) => textOf(entry, "role") },
        { title: "TOKEN", value: (entry) => textOf(entry, "token_id") },
        { title: "DOOR", value: (entry) => textOf(entry, "door") },
        { title: "DETAIL", value: detailOf },
      ],
    });
    return EXIT.ok;
  },
};

export const auditCommands: readonly Command[] = [list];
