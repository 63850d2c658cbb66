// `toolplane audit ...`: who did what.

import { type Body, pathOf } from "@toolplane/sdk/client";
import { shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { listCommand } from "../list-command.ts";

const detailOf = (entry: Body): string | undefined => {
  const text = JSON.stringify(entry.detail ?? {});
  return text === "{}" ? undefined : text;
};

const list = listCommand({
  name: "audit list",
  options: ["project", "limit", "cursor", "all"],
  summary: "list administrative acts and uses of control keys, newest first",
  path: ({ project, flags }) => (flags.all ? pathOf("audit") : pathOf("projects", project, "audit")),
  empty: ({ project, flags }) =>
    flags.all ? "nothing is written down yet" : `nothing is written down for project ${project} yet`,
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

export const auditCommands: readonly Command[] = [list];
