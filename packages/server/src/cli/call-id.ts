// Which call: its id, or `last` for the newest one of the project, so that a person need not copy 39 characters.

import { ToolplaneError } from "@toolplane/protocol";
import { type Body, pathOf } from "@toolplane/sdk/client";
import { itemsOf, parseText } from "./body.ts";
import type { CommandContext } from "./command.ts";

export const LAST = "last";

type Asking = Pick<CommandContext, "client" | "project">;

export const newestCall = async ({ client, project }: Asking): Promise<Body | undefined> =>
  itemsOf(await client.request({ path: pathOf("projects", project, "calls"), query: { limit: 1 } }))[0];

export const noCalls = (project: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${project} has no calls yet`);

export const resolveCallId = async (context: CommandContext): Promise<string> => {
  const given = context.args[0] ?? "";
  if (given !== LAST) return given;
  const newest = await newestCall(context);
  if (newest === undefined) throw noCalls(context.project);
  return parseText(newest, "tool_call_id");
};
