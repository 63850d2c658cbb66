// `toolplane cards show`: one stored record, as it is.

import { pathOf } from "@toolplane/sdk/client";
import { parseText, textOf } from "../body.ts";
import { LAST, newestCall, noCalls } from "../call-id.ts";
import type { Command, CommandContext } from "../command.ts";
import { EXIT } from "../exit-code.ts";

/** The newest call's result; its arguments while it has none. */
const resolveCardId = async (context: CommandContext): Promise<string> => {
  const given = context.args[0] ?? "";
  if (given !== LAST) return given;
  const call = await newestCall(context);
  if (call === undefined) throw noCalls(context.project);
  return textOf(call, "tool_result_card_id") ?? parseText(call, "tool_call_card_id");
};

const show: Command = {
  name: "cards show",
  usage: "ID",
  least: 1,
  most: 1,
  options: ["project"],
  summary: "show one card: its type, its author and its content (the id last is the newest call's result)",
  async run(context) {
    const { client, project, output } = context;
    const id = await resolveCardId(context);
    const card = await client.request({ path: pathOf("projects", project, "cards", id) });
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
