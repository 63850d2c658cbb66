// `toolplane dead ...`: what the engine gave up on.

import { pathOf } from "@toolplane/sdk/client";
import { cellOf, parseText, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { listCommand } from "../list-command.ts";

const letterPath = (project: string, id: string, ...rest: readonly string[]): string =>
  pathOf("projects", project, "dead-letters", id, ...rest);

const list = listCommand({
  name: "dead list",
  options: ["project", "limit", "cursor"],
  summary: "list what was given up, newest first",
  path: ({ project }) => pathOf("projects", project, "dead-letters"),
  empty: ({ project }) => `project ${project} has no dead letters`,
  columns: [
    { title: "DEAD LETTER", value: (letter) => textOf(letter, "dead_letter_id") },
    { title: "KIND", value: (letter) => textOf(letter, "kind") },
    { title: "CODE", value: (letter) => textOf(letter, "code") },
    { title: "ATTEMPTS", value: (letter) => cellOf(letter, "attempts") },
    { title: "CREATED", value: (letter) => shortTime(letter, "created_at") },
    { title: "REPLAYED AS", value: (letter) => textOf(letter, "replayed_as") },
  ],
});

const show: Command = {
  name: "dead show",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "show one dead letter",
  async run({ client, project, args, output }) {
    const letter = await client.request({ path: letterPath(project, args[0] ?? "") });
    if (output.json) output.data(letter);
    else
      output.fields([
        ["dead letter", letter.dead_letter_id],
        ["kind", letter.kind],
        ["call", letter.tool_call_id],
        ["subject", letter.subject],
        ["code", letter.code],
        ["reason", letter.reason],
        ["attempts", letter.attempts],
        ["created", letter.created_at],
        ["replayed", letter.replayed_at],
        ["replayed as", letter.replayed_as],
      ]);
    return EXIT.ok;
  },
};

const replay: Command = {
  name: "dead replay",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "try again: a new call; replaying twice gives the same one",
  async run({ client, project, args, output }) {
    const answer = await client.request({ method: "POST", path: letterPath(project, args[0] ?? "", "replay") });
    if (output.json) output.data(answer);
    else output.line(`replayed as ${parseText(answer, "replayed_as")}`);
    return EXIT.ok;
  },
};

export const deadCommands: readonly Command[] = [list, show, replay];
