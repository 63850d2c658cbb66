// Which turn: its id, or `last` for the newest one of the project.

import { ToolplaneError } from "@toolplane/protocol";
import { type Body, pathOf } from "@toolplane/sdk/client";
import { itemsOf, parseText } from "./body.ts";
import { LAST } from "./call-id.ts";
import type { CommandContext } from "./command.ts";

const PAGE = 100;

type Asking = Pick<CommandContext, "client" | "project">;

/** A turn that people asked for, before those that came of it. */
export const newestTurn = async ({ client, project }: Asking): Promise<Body | undefined> => {
  const turns = itemsOf(await client.request({ path: pathOf("projects", project, "turns"), query: { limit: PAGE } }));
  return turns.find(({ parent_agent_turn_id: parent }) => parent === null) ?? turns[0];
};

export const resolveTurn = async (asking: Asking, given: string): Promise<string> => {
  if (given !== LAST) return given;
  const newest = await newestTurn(asking);
  if (newest === undefined) throw new ToolplaneError("not_found", `project ${asking.project} has no turns yet`);
  return parseText(newest, "agent_turn_id");
};

export const resolveTurnId = (context: CommandContext): Promise<string> => resolveTurn(context, context.args[0] ?? "");
