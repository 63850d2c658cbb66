// Which turn: its id, or `last` for the newest one of the project.

import { ToolplaneError } from "@toolplane/protocol";
import { pathOf } from "@toolplane/sdk/client";
import { itemsOf, parseText } from "./body.ts";
import type { CommandContext } from "./command.ts";

const LAST = "last";
const PAGE = 100;

export const resolveTurn = async (
  { client, project }: Pick<CommandContext, "client" | "project">,
  given: string,
): Promise<string> => {
  if (given !== LAST) return given;
  const turns = itemsOf(await client.request({ path: pathOf("projects", project, "turns"), query: { limit: PAGE } }));
  // A turn that people asked for, before those that came of it.
  const newest = turns.find(({ parent_agent_turn_id: parent }) => parent === null) ?? turns[0];
  if (newest === undefined) throw new ToolplaneError("not_found", `project ${project} has no turns yet`);
  return parseText(newest, "agent_turn_id");
};

export const resolveTurnId = (context: CommandContext): Promise<string> => resolveTurn(context, context.args[0] ?? "");
