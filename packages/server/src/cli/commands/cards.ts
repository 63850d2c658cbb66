// `toolplane cards show`: one stored record, as it is.

import { pathOf } from "@toolplane/sdk/client";
import { textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";

const show: Command = {
  name: "cards show",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "show one card: its type, its author and its content",
  async run({ client, project, args, output }) {
    const card = await client.request({ path: pathOf("projects", project, "cards", args[0] ?? "") });
    if (output.json) {
      output.data(card);
      return EXIT.ok;
    }
    output.fields([
      ["card", card.card_id],
      ["type", card.type],
      ["author", card.author_id],
      ["created", card.created_at],
      ["call", textOf(card, "tool_call_id") ?? null],
      ["metadata", card.metadata],
    ]);
    output.value({ content: card.content ?? null });
    if (Array.isArray(card.tool_calls) && card.tool_calls.length > 0) output.value({ tool_calls: card.tool_calls });
    return EXIT.ok;
  },
};

export const cardsCommands: readonly Command[] = [show];
